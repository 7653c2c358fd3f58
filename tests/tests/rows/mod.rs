//! Every row of the model and every request that the first form asks of it: on a real file, the shipped SQL gives the
//! model's row and the model's reply.

mod reach;
mod real;
mod trial;

use reach::Reached;
use std::sync::LazyLock;
use tests::{TABLE, TempDb, say};

static REACHED: LazyLock<Reached> = LazyLock::new(reach::reach);

/// A table that converts nothing keeps every bad value as it is; NUMERIC finds '7' equal to 7.
const UNTYPED: &str = "CREATE TABLE instance_leases (
    lease_name TEXT PRIMARY KEY, holder_id NUMERIC, fence, acquired_at, expires_at);";

#[test]
fn in_wal_mode_sqlite_does_with_each_row_and_request_what_the_model_does() {
    in_journal_mode("wal");
}

#[test]
fn in_delete_mode_sqlite_does_with_each_row_and_request_what_the_model_does() {
    in_journal_mode("delete");
}

fn in_journal_mode(mode: &str) {
    let cases: Vec<_> = REACHED.asked.iter().chain(&REACHED.forgotten).copied().collect();
    for (table, typed) in [(TABLE, true), (UNTYPED, false)] {
        let db = TempDb::in_memory(&format!("PRAGMA journal_mode = {mode}; {table}"));
        let (tried, wrong) = trial::try_all(&db, typed, &cases);
        let columns = if typed { "typed" } else { "untyped" };
        say(format_args!("journal mode {mode}, columns {columns}: {tried} real rows"));
        let first: Vec<_> = wrong.iter().take(5).map(String::as_str).collect();
        assert!(wrong.is_empty(), "{} are otherwise:\n{}", wrong.len(), first.join("\n"));
        let is: String = db.raw().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(is, mode);
    }
}

/// A change of the model that nobody meant shows as a change of a number.
#[test]
fn the_rows_and_requests_are_as_many_as_known() {
    let Reached { asked, forgotten, excluded } = &*REACHED;
    let (is, was) = (asked.len(), forgotten.len());
    say(format_args!("{is} distinct rows and requests; and {was} that the model forgets"));
    excluded.iter().for_each(|(why, count)| say(format_args!("left out: {count}: {why}")));
    assert_eq!((asked.len(), forgotten.len()), (1_415, 1_322));
    assert_eq!(excluded.values().sum::<usize>(), 1_499);
}
