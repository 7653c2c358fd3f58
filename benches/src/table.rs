//! The figures as Markdown.

use crate::alone::Alone;
use crate::belief::Belief;
use crate::contender::Kind;
use crate::contest::{Leases, Setting, Who};
use crate::figures::Figures;
use crate::goals;
use crate::rounds::{Plan, Results, kinds};
use std::fmt::Write;
use std::time::Duration;

/// All of them: what the machine tells of itself, the goals, a table for each kind of contender and of lease.
pub fn markdown(plan: &Plan, alone: &[Alone], results: &Results, belief: Belief) -> String {
    let mut text = machine(plan);
    text += &goals::markdown(plan, alone, results, belief);
    text += &undisturbed(alone);
    let settings = plan.settings();
    for group in settings.chunk_by(|a, b| (a.who, a.leases) == (b.who, b.leases)) {
        text += &heading(group[0]);
        group.iter().for_each(|setting| text += &rows(results, *setting));
    }
    text
}

fn machine(plan: &Plan) -> String {
    let (system, cores) =
        (rustix::system::uname(), std::thread::available_parallelism().map_or(0, usize::from));
    let [name, release, machine] =
        [system.sysname(), system.release(), system.machine()].map(|s| s.to_string_lossy());
    let Plan { rounds, time, .. } = plan;
    format!(
        "{cores} cores, {name} {release} {machine}, SQLite {}; {rounds} rounds, each contest {}.\n",
        rusqlite::version(),
        duration(*time),
    )
}

fn undisturbed(alone: &[Alone]) -> String {
    let mut text = String::from(
        "\n### Alone\n\n\
         | | acquire and release | quarters | speed beside by hand | quarters |\n\
         |---|--:|--:|--:|--:|\n",
    );
    for Alone { kind, took, share } in alone {
        let [lower, median, upper] = [took.lower, took.median, took.upper].map(duration);
        let shares = format!("{:.2} | {:.2}–{:.2}", share.median, share.lower, share.upper);
        let _ = writeln!(text, "| {} | {median} | {lower}–{upper} | {shares} |", kind.name());
    }
    text
}

fn heading(Setting { who, leases, .. }: Setting) -> String {
    let who = match who {
        Who::Threads => "Threads",
        Who::Processes => "Processes",
    };
    let leases = match leases {
        Leases::One => "on one lease",
        Leases::Each => "on as many leases",
    };
    format!(
        "\n### {who} {leases}\n\n\
         | contenders | | tenures a second | beside by hand | wait, median | wait, 99 % | longest | Jain |\n\
         |--:|---|--:|--:|--:|--:|--:|--:|\n"
    )
}

fn rows(results: &Results, setting: Setting) -> String {
    let mut rows = String::new();
    for (index, kind) in kinds(setting).into_iter().enumerate() {
        let Figures { rate, median, p99, longest, jain } = results.over_rounds(setting, kind);
        let contenders = if index == 0 { setting.contenders.to_string() } else { String::new() };
        let (name, beside) = (kind.name(), beside(results, setting, kind));
        let [median, p99, longest] = [median, p99, longest].map(duration);
        let _ = writeln!(
            rows,
            "| {contenders} | {name} | {} | {beside} | {median} | {p99} | {longest} | {jain:.2} |",
            grouped(rate)
        );
    }
    rows
}

/// The median of the rounds' ratios, and their range.
fn beside(results: &Results, setting: Setting, kind: Kind) -> String {
    if [Kind::ByHand, Kind::Flock].contains(&kind) {
        return String::new();
    }
    let [least, median, most] = results.beside(setting, kind, Kind::ByHand);
    format!("{median:.2} ({least:.2}–{most:.2})")
}

/// Three digits or four, in a unit that suits.
pub(crate) fn duration(time: Duration) -> String {
    let nanos = time.as_nanos() as f64;
    let (value, unit) = match nanos {
        ..1e3 => (nanos, "ns"),
        1e3..1e6 => (nanos / 1e3, "µs"),
        1e6..1e9 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    let digits = if value < 10.0 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

/// A whole number, with a comma at each three digits.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let comma = |(index, digit): (usize, char)| {
        let comma = index > 0 && (digits.len() - index).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(["7", "870", "4,200", "1,234,567"], [7.2, 870.0, 4199.9, 1_234_567.0].map(grouped));
        let times = [85, 1_500, 30_400, 1_250_000, 3_000_000_000].map(Duration::from_nanos).map(duration);
        assert_eq!(["85 ns", "1.5 µs", "30 µs", "1.2 ms", "3.0 s"], times);
    }
}
