//! On Apache's mod_dav, by HTTP.

use super::guards::{claim, guard};
use super::records::read_while_they_change;
use super::server::Server;
use super::silence;
use super::{Bed, keeps_the_promises, records};
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, HeaderMap};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Arc;
use tempfile::{TempDir, tempdir};
use tenure::instance::{ClaimError, ObjectRecords, Record, Records, Seen};
use tenure::protocol::WallTime;

/// Two directories: `open`, and `closed` to all but one user.
const DIRECTORIES: [&str; 2] = ["open", "closed"];

/// His password is `secret`; this is its SHA-1.
const USERS: &str = "user:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n";

struct WebDav {
    server: Server,
    directory: TempDir,
}

impl WebDav {
    fn new() -> Self {
        let directory = tempdir().unwrap();
        let path = directory.path();
        // Apache gives root's rights up.
        for name in ["", "run"].iter().chain(&DIRECTORIES) {
            let _ = fs::create_dir(path.join(name));
            fs::set_permissions(path.join(name), Permissions::from_mode(0o777)).unwrap();
        }
        fs::write(path.join("users"), USERS).unwrap();
        let server = Server::start(|port| {
            fs::write(path.join("conf"), configuration(path.to_str().unwrap(), port)).unwrap();
            let mut apache = Command::new("/usr/sbin/apache2");
            // One process, so that a signal stops all of it.
            apache.arg("-X").arg("-f").arg(path.join("conf"));
            apache
        });
        Self { server, directory }
    }

    /// A client of that directory, by that user and password.
    fn client_of(&self, directory: &str, user: &str) -> ObjectRecords {
        self.client_with(directory, user, silence::options())
    }

    fn client_with(&self, directory: &str, user: &str, options: ClientOptions) -> ObjectRecords {
        let url = format!("http://{user}{}/{directory}", self.server.address());
        let store = HttpBuilder::new().with_url(url).with_client_options(options);
        records(store.with_retry(silence::retries()).build().unwrap())
    }

    /// `basic` is user, colon, and password in Base64.
    fn client_by_header(&self, basic: &str) -> ObjectRecords {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", format!("Basic {basic}").parse().unwrap());
        self.client_with("closed", "", silence::options().with_default_headers(headers))
    }
}

impl Bed for WebDav {
    /// Of others a half can be seen: see below.
    const LENGTHS: [usize; 2] = [3_000, 3_000];

    fn client(&self) -> ObjectRecords {
        self.client_of("open", "")
    }
}

fn configuration(directory: &str, port: u16) -> String {
    let modules =
        ["mpm_event", "authz_core", "authn_core", "authn_file", "authz_user", "auth_basic", "dav", "dav_fs"];
    let modules =
        modules.map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"));
    format!(
        "{}
        ServerName localhost
        ServerRoot {directory}
        DefaultRuntimeDir {directory}/run
        PidFile {directory}/run/pid
        ErrorLog {directory}/run/log
        Listen 127.0.0.1:{port}
        User #65534
        Group #65534
        DocumentRoot {directory}
        DavLockDB {directory}/run/locks
        <Directory {directory}>
            Require all denied
        </Directory>
        <Directory {directory}/open>
            Dav On
            Require all granted
        </Directory>
        <Directory {directory}/closed>
            Dav On
            AuthType Basic
            AuthName closed
            AuthUserFile {directory}/users
            Require valid-user
        </Directory>
        ",
        modules.concat()
    )
}

keeps_the_promises!(WebDav::new());
silence::is_told!(WebDav::new(), |bed: &mut WebDav| &mut bed.server);

fn refused(records: ObjectRecords) -> String {
    match guard(records).claim().wait().unwrap_err() {
        ClaimError::Unreadable(why) => why,
        other => panic!("{other}"),
    }
}

#[test]
fn who_is_not_let_in_is_refused_and_told_why_without_the_password() {
    let bed = WebDav::new();
    for user in ["", "user:wrong-secret@"] {
        let why = refused(bed.client_of("closed", user));
        assert!(why.contains("401") && why.contains("service/instance.json in HttpStore"), "{why}");
        assert!(!why.contains("secret"), "{why}");
    }
    assert!(!format!("{:?}", bed.client_of("closed", "user:wrong-secret@")).contains("secret"));
    fs::set_permissions(bed.directory.path().join("open"), Permissions::from_mode(0o000)).unwrap();
    assert!(refused(bed.client()).contains("403"));
    fs::set_permissions(bed.directory.path().join("open"), Permissions::from_mode(0o777)).unwrap();
    drop(claim(&bed).unwrap());
}

/// Each drives the connections that it opened, also while it is not called.
#[test]
fn two_clients_may_share_a_store_and_its_connections() {
    let bed = WebDav::new();
    let store = HttpBuilder::new().with_url(format!("http://{}/open", bed.server.address()));
    let store = store.with_client_options(silence::options()).with_retry(silence::retries());
    let store = Arc::new(store.build().unwrap());
    let [mut one, mut two] = [records(Arc::clone(&store)), records(store)];
    one.write(b"one").unwrap();
    assert_eq!(two.read().unwrap(), Some(b"one".to_vec()));
    two.write(b"two").unwrap();
    assert_eq!(one.read().unwrap(), Some(b"two".to_vec()));
}

/// The crate `object_store` sends no password of a URL.
#[test]
fn who_has_the_password_is_let_in_by_a_header() {
    let bed = WebDav::new();
    drop(guard(bed.client_by_header("dXNlcjpzZWNyZXQ=")).claim().wait().unwrap());
    let wrong = "dXNlcjp3cm9uZw==";
    let why = refused(bed.client_by_header(wrong));
    assert!(why.contains("401") && !why.contains(wrong), "{why}");
}

/// Apache asks for a file's length, and opens the file then. Of some thousand reads one takes the length of the record that
/// was there before.
#[test]
fn a_record_of_which_apache_tells_the_length_of_another_is_unreadable_and_never_mistaken() {
    let record = |id: &str| {
        let time = WallTime::from_unix_millis(1_767_225_600_000);
        Record { id: id.into(), since: time, renewed: time, ttl_ms: 120_000 }
    };
    let records = [record("a"), record("b-which-is-longer")];
    let bytes = records.each_ref().map(|record| record.to_json().into_bytes());
    for read in read_while_they_change(&WebDav::new(), &bytes) {
        match Seen::of(Some(&read)) {
            Seen::Record(record) => assert!(records.contains(&record), "{record:?}"),
            Seen::Unreadable(_) => assert!(read.ends_with(b"\0") || !read.ends_with(b"\n"), "{read:?}"),
            Seen::Absent => unreachable!(),
        }
    }
}
