//! One of many that race for a lease, each with a connection of its own, in step: all read, then all acquire.

use crate::{Player, SetClock, eventually, holder, lease, timing};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use tenure::protocol::{Fence, HolderId, Input, Request};
use tenure::store::{OpenError, SqliteStore};

/// The lease that they race for.
pub const LEASE: &str = "race";

const TTL_MS: u64 = 1_000;

/// What a rival can be told over a line, and how it answers.
pub trait Rival {
    /// Tells it something.
    fn tell(&mut self, line: &str);
    /// Its next answer.
    fn answer(&mut self) -> String;
}

/// Who the rival is in that round.
fn id(round: usize, rival: usize) -> HolderId {
    holder((round * 1_000 + rival) as u64, &timing(TTL_MS))
}

/// Races in every round, told by two lines each: `read ROUND`, answered by `ready`, and `acquire`, answered
/// by the fence that was granted, or by `none`.
pub fn serve(path: &Path, rival: usize, lines: impl Iterator<Item = String>, mut say: impl FnMut(String)) {
    let clock = SetClock::new();
    let (lease, timing) = (lease(LEASE), timing(TTL_MS));
    let mut player = Player::new(open(path, &clock), &clock, &lease, &id(0, rival), timing);
    let mut acquire = None;
    for line in lines {
        if let Some(round) = line.strip_prefix("read ") {
            let round = round.parse().unwrap();
            // The row of the round before expires at this very moment.
            clock.set_wall(SetClock::BEGIN + TTL_MS as i64 * round as i64);
            player.contend_as(&lease, &id(round, rival), timing);
            acquire = Some(read(&mut player));
            say("ready".into());
        } else {
            let fence = acquire.take().and_then(|acquire| granted(&mut player, &acquire));
            say(fence.map_or("none".into(), |fence| fence.to_string()));
        }
    }
}

/// All rivals open at once.
fn open(path: &Path, clock: &Arc<SetClock>) -> SqliteStore {
    eventually("the file is not busy", || match SqliteStore::open(path, Arc::clone(clock) as Arc<_>) {
        Err(OpenError::Busy { .. }) => None,
        opened => Some(opened.unwrap()),
    })
}

/// Reads, and gives the acquire that follows from it.
fn read(player: &mut Player) -> Request {
    let (read, _) = player.step(Input::Wake);
    let reply = player.carry_out(&read.expect("a contender reads first"));
    let (acquire, events) = player.step(reply);
    acquire.unwrap_or_else(|| panic!("the lease was not free: {events:?}"))
}

fn granted(player: &mut Player, acquire: &Request) -> Option<Fence> {
    let reply = player.carry_out(acquire);
    player.step(reply);
    player.contender.tenure().map(|tenure| tenure.fence)
}

/// Races, first for a lease that has no row, then for an expired one in each round.
///
/// # Panics
/// If in any round not exactly one was granted the lease, with the next fence, and stands in the row.
pub fn race(path: &Path, rivals: &mut [impl Rival], rounds: usize) {
    let connection = Connection::open(path).unwrap();
    for round in 0..rounds {
        rivals.iter_mut().for_each(|rival| rival.tell(&format!("read {round}")));
        rivals.iter_mut().for_each(|rival| assert_eq!(rival.answer(), "ready"));
        rivals.iter_mut().for_each(|rival| rival.tell("acquire"));
        let granted: Vec<_> = rivals
            .iter_mut()
            .enumerate()
            .filter_map(|(rival, by)| Some((id(round, rival).to_string(), by.answer().parse::<i64>().ok()?)))
            .collect();
        let sql = "SELECT holder_id, fence FROM instance_leases";
        let stands = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(granted, [stands], "round {round}");
        assert_eq!(granted[0].1, round as i64 + 1, "round {round}");
    }
}
