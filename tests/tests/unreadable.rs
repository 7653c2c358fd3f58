//! R12: what cannot be read is held, and R2: the integer's end.

use tenure::protocol::{Action, Bound, End, Event, Fence, Free, HolderId, Input, Reply, Seen};
use tests::{Player, SetClock, TABLE, TempDb, bound, holder, lease, request, timing};

const TTL: u64 = 10_000;
const FUTURE: &str = "9000000000000";

/// A column that converts nothing keeps every bad value as it is; NUMERIC finds '7' equal to 7.
const TYPELESS: &str = "CREATE TABLE instance_leases (
    lease_name TEXT PRIMARY KEY, holder_id NUMERIC, fence, acquired_at, expires_at);";

/// What stands in no row of ours: column, value, and whether the table of SPEC.md keeps it as it is.
const BAD: &[(&str, &str, bool)] = &[
    ("holder_id", "''", true),
    ("holder_id", "X'6170707669657731'", true),
    ("holder_id", "CAST(X'61FF62' AS TEXT)", true),
    ("holder_id", "7", false),
    ("holder_id", "NULL", false),
    ("fence", "1.5", true),
    ("fence", "'seven'", true),
    ("fence", "X'37'", true),
    ("fence", "-1", true),
    ("fence", "-9223372036854775808", true),
    ("fence", "9.3e18", true),
    ("fence", "7.0", false),
    ("fence", "'7'", false),
    ("fence", "NULL", false),
    ("acquired_at", "1.5", true),
    ("acquired_at", "'2026-01-01T00:00:00Z'", true),
    ("acquired_at", "X'00'", true),
    ("acquired_at", "NULL", false),
    ("expires_at", "1.5", true),
    ("expires_at", "1e300", true),
    ("expires_at", "'2026-01-01T00:00:00Z'", true),
    ("expires_at", "X''", true),
    ("expires_at", "-1", true),
    ("expires_at", "0.0", false),
    ("expires_at", "NULL", false),
];

fn me() -> HolderId {
    holder(1, &timing(TTL))
}

/// Each bad value in each kind of row: released, expired or live, our own or somebody else's.
fn for_each_bad_row(mut check: impl FnMut(&TempDb, &str, &str)) {
    let me = me();
    for (table, strict) in [(TABLE, true), (TYPELESS, false)] {
        for &(column, bad, _) in BAD.iter().filter(|(_, _, kept)| *kept || !strict) {
            let kinds = ["0", "1", FUTURE].into_iter().flat_map(|at| [(me.as_str(), at), ("appview-1", at)]);
            for (holder, expires_at) in kinds {
                let holder = format!("'{holder}'");
                let sound = [
                    ("holder_id", &holder[..]),
                    ("fence", "7"),
                    ("acquired_at", "1"),
                    ("expires_at", expires_at),
                ];
                let row = sound.map(|(name, sound)| if name == column { bad } else { sound }).join(", ");
                let insert = format!("INSERT INTO instance_leases VALUES ('worker', {row})");
                check(&TempDb::with(&format!("PRAGMA synchronous = OFF; {table} {insert}")), column, &row);
            }
        }
    }
}

/// Whatever anybody may believe to have read there.
fn all_requests() -> Vec<Action> {
    let me = me();
    let beliefs = [me.as_str(), "appview-1", "appview1", "", "7"].into_iter().flat_map(|holder| {
        [0, 1, 7, i64::MAX].into_iter().flat_map(move |fence| {
            [Free::Now, Free::AfterExpiry { slack_ms: 0 }, Free::OnceReleased]
                .map(|free| bound(holder, fence, free))
        })
    });
    let fences = [0, 1, 7, i64::MAX].map(|fence| Fence::new(fence).unwrap());
    [Bound::Absent]
        .into_iter()
        .chain(beliefs)
        .map(Action::Acquire)
        .chain(fences.map(Action::Renew))
        .chain(fences.map(Action::Release))
        .collect()
}

/// SPEC.md R12, in every branch of every statement.
#[test]
fn nothing_is_granted_or_changed_where_a_column_cannot_be_read_and_the_reason_names_it() {
    let requests: Vec<_> =
        all_requests().into_iter().map(|action| request(&lease("worker"), &me(), action)).collect();
    for_each_bad_row(|db, column, row| {
        let before = db.dump();
        let mut store = db.store(&SetClock::new());
        for (asked, answer) in requests.iter().zip(store.execute(&requests)) {
            let Ok(Reply::Refused(Seen::Unreadable(why))) = &answer else {
                panic!("({row}): {:?} was answered by {answer:?}", asked.action)
            };
            assert!(why.contains(column), "({row}): {why}");
        }
        let read = store.execute(&[request(&lease("worker"), &me(), Action::Read)]);
        let [Ok(Reply::Seen { seen: Seen::Unreadable(why), .. })] = &read[..] else {
            panic!("({row}): {read:?}")
        };
        assert!(why.contains(column), "({row}): {why}");
        assert_eq!(db.dump(), before, "({row})");
    });
}

#[test]
fn a_contender_that_finds_an_unreadable_row_says_so_and_waits_until_it_is_mended() {
    let db = TempDb::with(&format!(
        "{TABLE} INSERT INTO instance_leases VALUES ('worker', 'appview-1', 'seven', 1, 2)"
    ));
    let mut player = player(&db);
    for _ in 0..3 {
        let events = player.after(2_000);
        assert!(matches!(&events[..], [Event::Unreadable(why)] if why.contains("seven")), "{events:?}");
    }
    db.execute("UPDATE instance_leases SET fence = 7");
    player.after(2_000);
    assert_eq!(player.contender.tenure().unwrap().fence.get(), 8);
}

/// SPEC.md R12: that is normal after a release.
#[test]
fn a_row_whose_grant_is_later_than_its_expiry_can_be_read() {
    let db = TempDb::with(&format!(
        "{TABLE} INSERT INTO instance_leases VALUES ('worker', 'appview-1', 7, {FUTURE}, 0)"
    ));
    let mut player = player(&db);
    player.play(Input::Wake);
    assert_eq!(player.contender.tenure().unwrap().fence.get(), 8);
}

/// SPEC.md R2, at the integer's end.
#[test]
fn the_last_fence_is_never_followed_by_another() {
    let last = |expires_at: &str| {
        format!(
            "{TABLE} INSERT INTO instance_leases VALUES ('worker', '{}', {}, 1, {expires_at})",
            me(),
            i64::MAX
        )
    };
    for expires_at in ["0", "1"] {
        let db = TempDb::with(&last(expires_at));
        let before = db.dump();
        let acquire = Action::Acquire(bound(me().as_str(), i64::MAX, Free::Now));
        let answer = db.store(&SetClock::new()).execute(&[request(&lease("worker"), &me(), acquire)]);
        assert!(matches!(&answer[..], [Ok(Reply::Refused(Seen::Row(_)))]), "{answer:?}");
        assert_eq!(player(&db).play(Input::Wake), [Event::Ended(End::FencesExhausted)]);
        assert_eq!(db.dump(), before);
    }
    // Its tenure is as good as any other until it ends.
    let db = TempDb::with(&last(FUTURE));
    let both =
        [Action::Renew(Fence::MAX), Action::Release(Fence::MAX)].map(|a| request(&lease("worker"), &me(), a));
    let answers = db.store(&SetClock::new()).execute(&both);
    assert!(matches!(&answers[..], [Ok(Reply::Renewed), Ok(Reply::Released)]), "{answers:?}");
}

/// SPEC.md R3 and R12: never a REAL.
#[test]
fn an_expiry_at_the_integers_end_is_not_renewed_but_released() {
    let db = TempDb::with(&format!(
        "{TABLE} INSERT INTO instance_leases VALUES ('worker', '{}', 7, 1, {})",
        me(),
        i64::MAX
    ));
    let before = db.dump();
    let fence = Fence::new(7).unwrap();
    let mut store = db.store(&SetClock::new());
    let mut ask = |action| store.execute(&[request(&lease("worker"), &me(), action)]).pop().unwrap();
    assert!(matches!(ask(Action::Renew(fence)), Ok(Reply::Refused(Seen::Row(_)))));
    assert_eq!(db.dump(), before);
    assert!(matches!(ask(Action::Release(fence)), Ok(Reply::Released)));
    assert_eq!(db.row("worker").unwrap().expires_at, 0);
}

#[test]
fn an_expiry_beyond_the_integers_end_is_cut_and_stays_an_integer() {
    let db = TempDb::with(TABLE);
    let clock = SetClock::new();
    clock.set_wall(i64::MAX - 5);
    let answer =
        db.store(&clock).execute(&[request(&lease("worker"), &me(), Action::Acquire(Bound::Absent))]);
    assert!(matches!(&answer[..], [Ok(Reply::Granted(Fence::FIRST))]), "{answer:?}");
    assert_eq!(db.row("worker").unwrap().expires_at, i64::MAX);
}

fn player(db: &TempDb) -> Player {
    let clock = SetClock::new();
    Player::new(db.store(&clock), &clock, &lease("worker"), &me(), timing(TTL))
}
