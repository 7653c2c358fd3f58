//! The record: what an instance says of itself, to others and to people.

use crate::protocol::WallTime;
use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::ops::RangeInclusive;

/// The only version there is. A record of another one is unreadable.
const VERSION: u64 = 1;

/// The longest record, in bytes. Ours have less than a tenth of it; what is longer is no record.
pub const BYTES_MAX: usize = 4_096;

/// The longest id: a label, and sixteen digits.
const ID_BYTES_MAX: usize = 272;

/// The shortest and the longest TTL, in milliseconds: a second and a day.
pub(super) const TTL_MS: RangeInclusive<u64> = 1_000..=86_400_000;

/// What an instance says of itself: one JSON object,
/// `{"tenure_instance":1,"id":"web-1-…","since_ms":…,"renewed_ms":…,"ttl_ms":…}`, times in Unix milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who: no two claims share it.
    pub id: String,
    /// When it was written first.
    pub since: WallTime,
    /// When it was written last, by its writer's wall clock.
    pub renewed: WallTime,
    /// How long it is live after that, in milliseconds: a second to a day.
    pub ttl_ms: u64,
}

/// What stands in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// No record.
    Absent,
    /// A record.
    Record(Record),
    /// Something that is no record, and why. It counts as live.
    Unreadable(String),
}

impl Seen {
    /// Understands what was read; `None` is that there is nothing. Empty is not nothing: somebody wrote it.
    pub fn of(bytes: Option<&[u8]>) -> Self {
        match bytes.map(Record::parse) {
            None => Self::Absent,
            Some(Ok(record)) => Self::Record(record),
            Some(Err(why)) => Self::Unreadable(why),
        }
    }
}

impl Record {
    /// When it is not live any more, by its writer's wall clock.
    pub fn expires(&self) -> WallTime {
        self.renewed.plus(self.ttl_ms)
    }

    /// As it is written: one line.
    pub fn to_json(&self) -> String {
        let Self { id, since, renewed, ttl_ms } = self;
        let (id, since, renewed) =
            (Value::from(id.as_str()), since.as_unix_millis(), renewed.as_unix_millis());
        format!(
            "{{\"tenure_instance\":{VERSION},\"id\":{id},\"since_ms\":{since},\"renewed_ms\":{renewed},\"ttl_ms\":{ttl_ms}}}\n"
        )
    }

    /// Strict: five fields, each once, of its type and in its range, and nothing else.
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > BYTES_MAX {
            return Err(format!("it is longer than {BYTES_MAX} bytes"));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8: {error}"))?;
        let mut fields = fields_of(text)?;
        let version = take(&mut fields, "tenure_instance")?;
        if version.as_u64() != Some(VERSION) {
            return Err(format!("it is of another version: {version}"));
        }
        let record = Self {
            id: id(&take(&mut fields, "id")?)?,
            since: wall_time(&mut fields, "since_ms")?,
            renewed: wall_time(&mut fields, "renewed_ms")?,
            ttl_ms: ttl(&take(&mut fields, "ttl_ms")?)?,
        };
        match fields.keys().next() {
            Some(unknown) => Err(format!("it has an unknown field: {unknown:?}")),
            None => Ok(record),
        }
    }
}

fn fields_of(text: &str) -> Result<Map<String, Value>, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = json.deserialize_map(Pairs).and_then(|pairs| json.end().map(|()| pairs));
    let mut fields = Map::new();
    for (name, value) in read.map_err(|error| no_object(&error))? {
        if fields.contains_key(&name) {
            return Err(format!("it has the field {name:?} twice"));
        }
        fields.insert(name, value);
    }
    Ok(fields)
}

fn no_object(error: &serde_json::Error) -> String {
    match error.is_data() {
        true => "it is not a JSON object".into(),
        false => format!("it is not JSON: {error}"),
    }
}

/// The fields of an object as they stand there: a map would keep but the last of two that have one name.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        std::iter::from_fn(|| object.next_entry().transpose()).collect()
    }
}

fn take(fields: &mut Map<String, Value>, name: &str) -> Result<Value, String> {
    fields.remove(name).ok_or_else(|| format!("its field {name:?} is missing"))
}

fn wall_time(fields: &mut Map<String, Value>, name: &str) -> Result<WallTime, String> {
    let value = take(fields, name)?;
    let ms = value.as_i64().ok_or_else(|| format!("its {name} is no whole number: {value}"))?;
    Ok(WallTime::from_unix_millis(ms))
}

fn ttl(value: &Value) -> Result<u64, String> {
    let ms = value.as_u64().filter(|ms| TTL_MS.contains(ms));
    ms.ok_or_else(|| format!("its ttl_ms is not one of {} to {}: {value}", TTL_MS.start(), TTL_MS.end()))
}

fn id(value: &Value) -> Result<String, String> {
    let good = |id: &&str| (1..=ID_BYTES_MAX).contains(&id.len()) && !id.chars().any(char::is_control);
    let id = value.as_str().filter(good);
    id.map(str::to_owned).ok_or_else(|| {
        format!("its id is not a text of 1 to {ID_BYTES_MAX} bytes without control characters")
    })
}
