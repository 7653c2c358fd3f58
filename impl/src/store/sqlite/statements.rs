//! The statements: each one write that decides (SPEC.md R1), on rows that can be read only (SPEC.md R12).

use crate::protocol::{Bound, Fence, HolderId, LeaseName, Row, Seen, WallTime};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Result, named_params};

/// SPEC.md R12, in every WHERE. Without it SQLite takes REAL 1.5 for an expiry long past, and makes
/// `'seven' + 1` a fence of 1.
macro_rules! readable {
    () => {
        "typeof(holder_id) = 'text' AND holder_id <> ''
         AND typeof(fence) = 'integer' AND fence >= 0
         AND typeof(acquired_at) = 'integer'
         AND typeof(expires_at) = 'integer' AND expires_at >= 0"
    };
}

/// Bound to no row (SPEC.md R1); the first fence (SPEC.md R2).
const ACQUIRE_ABSENT: &str = "
INSERT INTO main.instance_leases (lease_name, holder_id, fence, acquired_at, expires_at)
VALUES (:lease, :me, 1, :now, :until)
ON CONFLICT (lease_name) DO NOTHING
RETURNING fence";

/// Bound to the row that was read, free in this same write (SPEC.md R1); the next fence (SPEC.md R2). An
/// upsert would insert where the row has vanished meanwhile, and begin with fence 1 again (SPEC.md R11).
const ACQUIRE_SEEN: &str = concat!(
    "
UPDATE main.instance_leases
SET holder_id = :me, fence = fence + 1, acquired_at = :now, expires_at = :until
WHERE lease_name = :lease AND holder_id = :seen_holder AND fence = :seen_fence
  AND expires_at <= :latest_free AND fence < 9223372036854775807
  AND ",
    readable!(),
    "
RETURNING fence"
);

/// Unexpired, which a released row never is; always a change (SPEC.md R3).
const RENEW: &str = concat!(
    "
UPDATE main.instance_leases
SET expires_at = max(expires_at + 1, :until)
WHERE lease_name = :lease AND holder_id = :me AND fence = :fence
  AND expires_at > :now AND expires_at < 9223372036854775807
  AND ",
    readable!()
);

/// In place: the row and its fence stay (SPEC.md R3).
const RELEASE: &str = concat!(
    "
UPDATE main.instance_leases
SET expires_at = 0
WHERE lease_name = :lease AND holder_id = :me AND fence = :fence
  AND ",
    readable!()
);

const READ: &str = "
SELECT holder_id, fence, acquired_at, expires_at FROM main.instance_leases WHERE lease_name = :lease";

pub(super) fn acquire(
    connection: &Connection,
    lease: &LeaseName,
    me: &HolderId,
    bound: &Bound,
    now: WallTime,
) -> Result<Option<Fence>> {
    let until = now.plus(me.ttl_ms()).as_unix_millis();
    let (lease, me) = (lease.as_str(), me.as_str());
    let wall = now.as_unix_millis();
    // Stepped to its end, so that no error of the statement is lost.
    let granted: Option<i64> = match bound {
        Bound::Absent => connection
            .prepare_cached(ACQUIRE_ABSENT)?
            .query_one(named_params! {":lease": lease, ":me": me, ":now": wall, ":until": until}, |row| {
                row.get(0)
            }),
        Bound::Seen { holder, fence, free } => connection.prepare_cached(ACQUIRE_SEEN)?.query_one(
            named_params! {
                ":lease": lease, ":me": me, ":now": wall, ":until": until,
                ":seen_holder": holder, ":seen_fence": fence.get(),
                ":latest_free": free.latest_free_expiry(now).as_unix_millis(),
            },
            |row| row.get(0),
        ),
    }
    .optional()?;
    Ok(granted.and_then(Fence::new))
}

pub(super) fn renew(
    connection: &Connection,
    lease: &LeaseName,
    me: &HolderId,
    fence: Fence,
    now: WallTime,
) -> Result<bool> {
    let changed = connection.prepare_cached(RENEW)?.execute(named_params! {
        ":lease": lease.as_str(), ":me": me.as_str(), ":fence": fence.get(),
        ":now": now.as_unix_millis(), ":until": now.plus(me.ttl_ms()).as_unix_millis(),
    })?;
    Ok(changed == 1)
}

pub(super) fn release(
    connection: &Connection,
    lease: &LeaseName,
    holder: &str,
    fence: Fence,
) -> Result<bool> {
    let changed = connection
        .prepare_cached(RELEASE)?
        .execute(named_params! {":lease": lease.as_str(), ":me": holder, ":fence": fence.get()})?;
    Ok(changed == 1)
}

pub(crate) fn read(connection: &Connection, lease: &LeaseName) -> Result<Seen> {
    let mut query = connection.prepare_cached(READ)?;
    let seen = query.query_one(named_params! {":lease": lease.as_str()}, |row| {
        let [holder, fence, acquired, expires] = [0, 1, 2, 3].map(|column| row.get_ref(column));
        Ok(match readable(holder?, fence?, acquired?, expires?) {
            Ok(row) => Seen::Row(row),
            Err(why) => Seen::Unreadable(why),
        })
    });
    Ok(seen.optional()?.unwrap_or(Seen::Absent))
}

/// The same test as `readable!`, for people: it says what is wrong (SPEC.md R12).
pub(super) fn readable(
    holder: ValueRef<'_>,
    fence: ValueRef<'_>,
    acquired_at: ValueRef<'_>,
    expires_at: ValueRef<'_>,
) -> std::result::Result<Row, String> {
    Ok(Row {
        holder: self::holder(holder)?,
        fence: self::fence(fence)?,
        acquired_at: self::acquired_at(acquired_at)?,
        expires_at: self::expires_at(expires_at)?,
    })
}

pub(super) fn holder(value: ValueRef<'_>) -> std::result::Result<String, String> {
    match value.as_str() {
        Ok("") => Err("holder_id is empty".into()),
        Ok(holder) => Ok(holder.to_owned()),
        Err(_) => Err(format!("holder_id is {}", told(value))),
    }
}

pub(super) fn fence(value: ValueRef<'_>) -> std::result::Result<Fence, String> {
    let fence = integer("fence", value)?;
    Fence::new(fence).ok_or_else(|| format!("fence is {fence}, below 0"))
}

pub(super) fn acquired_at(value: ValueRef<'_>) -> std::result::Result<WallTime, String> {
    integer("acquired_at", value).map(WallTime::from_unix_millis)
}

pub(super) fn expires_at(value: ValueRef<'_>) -> std::result::Result<WallTime, String> {
    let expires_at = integer("expires_at", value)?;
    if expires_at < 0 {
        return Err(format!("expires_at is {expires_at}, below 0"));
    }
    Ok(WallTime::from_unix_millis(expires_at))
}

fn integer(column: &str, value: ValueRef<'_>) -> std::result::Result<i64, String> {
    value.as_i64().map_err(|_| format!("{column} is {}, not an integer", told(value)))
}

pub(super) fn told(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".into(),
        ValueRef::Integer(number) => format!("the integer {number}"),
        ValueRef::Real(number) => format!("the real {number:?}"),
        ValueRef::Text(text) => format!("the text {:?}", String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => format!("a blob of {} bytes", bytes.len()),
    }
}
