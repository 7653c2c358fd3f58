//! On Azurite, the emulator of Azure's blob storage.

use super::guards::{claim, guard};
use super::server::Server;
use super::silence;
use super::{Bed, keeps_the_promises, records};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use tempfile::{TempDir, tempdir};
use tenure::instance::{ClaimError, ObjectRecords};

/// The emulator's own, which everybody knows.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// What that key has signed: whoever has these may read, write, delete and create; or read; or write; until the year 2100.
const ALL: &str = "sv=2018-11-09&ss=b&srt=sco&sp=rwdlac&se=2100-01-01T00%3A00%3A00Z&sig=RDDDurbJp2cvHUsQPpwYRTbDWU4Ja0vOBapV13xEMmw%3D";
const READ: &str = "sv=2018-11-09&ss=b&srt=sco&sp=r&se=2100-01-01T00%3A00%3A00Z&sig=yyzZCzO0Q37cbKwS4BKTNt0pVzUoTzyhCZi75Yh0AkQ%3D";
const WRITE: &str = "sv=2018-11-09&ss=b&srt=sco&sp=wdc&se=2100-01-01T00%3A00%3A00Z&sig=YQ9mVYqImbQZGcZdGhyE%2FSNI1Dwy4PsTngogbRr%2Bd%2B0%3D";

struct Azurite {
    server: Server,
    _directory: TempDir,
}

impl Azurite {
    fn new() -> Self {
        let program = std::env::var_os("AZURITE");
        let program =
            program.expect("the variable AZURITE must name the executable azurite-blob: see tests/README.md");
        let directory = tempdir().unwrap();
        let server = Server::start(|port| {
            let mut azurite = Command::new(program);
            azurite.args(["--blobHost", "127.0.0.1", "--blobPort"]).arg(port.to_string());
            azurite.args([
                "--inMemoryPersistence",
                "--silent",
                "--disableTelemetry",
                "--skipApiVersionCheck",
            ]);
            azurite.current_dir(&directory);
            azurite
        });
        let azurite = Self { server, _directory: directory };
        azurite.create_container();
        azurite
    }

    /// The crate `object_store` does not create any.
    fn create_container(&self) {
        let address = self.server.address();
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = format!("PUT /{ACCOUNT}/records?restype=container&{ALL} HTTP/1.1\r\nHost: {address}\r\n");
        write!(stream, "{head}Content-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    }

    fn builder(&self) -> MicrosoftAzureBuilder {
        let builder = MicrosoftAzureBuilder::new().with_account(ACCOUNT).with_container_name("records");
        let builder = builder.with_endpoint(format!("http://{}/{ACCOUNT}", self.server.address()));
        builder.with_client_options(silence::options()).with_retry(silence::retries())
    }

    fn client_by(&self, signature: &str) -> ObjectRecords {
        records(self.builder().with_config(AzureConfigKey::SasKey, signature).build().unwrap())
    }
}

impl Bed for Azurite {
    fn client(&self) -> ObjectRecords {
        records(self.builder().with_access_key(KEY).build().unwrap())
    }
}

keeps_the_promises!(Azurite::new());
silence::is_told!(Azurite::new(), |bed: &mut Azurite| &mut bed.server);

fn refused(records: ObjectRecords) -> String {
    let told = match guard(records).claim().wait().unwrap_err() {
        ClaimError::Unreadable(why) => format!("unreadable: {why}"),
        ClaimError::NotWritten(why) => format!("not written: {why}"),
        other => panic!("{other}"),
    };
    assert!(told.contains("service/instance.json in MicrosoftAzure"), "{told}");
    told
}

/// What is secret in a signed query.
fn signature(query: &str) -> &str {
    query.split("sig=").nth(1).unwrap().trim_end_matches("%3D")
}

#[test]
fn who_is_not_let_in_is_refused_and_told_why_without_key_or_signature() {
    let bed = Azurite::new();
    let key = KEY.replace("Eby8", "Eby9");
    let why = refused(records(bed.builder().with_access_key(&key).build().unwrap()));
    assert!(why.starts_with("unreadable: ") && why.contains("403") && !why.contains(&key), "{why}");
    let wrong = ALL.replace("2100", "2101");
    for (query, begins) in [(&*wrong, "unreadable: "), (WRITE, "unreadable: "), (READ, "not written: ")] {
        let why = refused(bed.client_by(query));
        assert!(why.starts_with(begins) && why.contains("403"), "{why}");
        assert!(!why.contains(signature(query)), "{why}");
        assert!(!format!("{:?}", bed.client_by(query)).contains(signature(query)));
    }
    drop(claim(&bed).unwrap());
    drop(guard(bed.client_by(ALL)).claim().wait().unwrap());
}

#[test]
fn without_its_container_the_record_is_not_there_and_cannot_be_written() {
    let bed = Azurite::new();
    let store = bed.builder().with_access_key(KEY).with_container_name("missing");
    let why = refused(records(store.build().unwrap()));
    assert!(why.starts_with("not written: ") && why.contains("ContainerNotFound"), "{why}");
}
