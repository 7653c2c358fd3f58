//! What is aimed at, and whether it is met.

use crate::alone::Alone;
use crate::belief::Belief;
use crate::contender::Kind;
use crate::contest::{Leases, Setting, Who};
use crate::rounds::{Plan, Results};

/// A table of them.
pub(crate) fn markdown(plan: &Plan, alone: &[Alone], results: &Results, belief: Belief) -> String {
    let mut text = String::from("\n### Goals\n\n| goal | measured | |\n|---|---|---|\n");
    text += &acquired(alone);
    for leases in [Leases::One, Leases::Each] {
        text += &shared(results, Setting { who: Who::Processes, leases, contenders: plan.crowd() });
    }
    text + &checked(belief)
}

fn row(goal: &str, measured: &str, met: bool) -> String {
    format!("| {goal} | {measured} | {} |\n", if met { "met" } else { "missed" })
}

fn acquired(alone: &[Alone]) -> String {
    let percent =
        |kind| alone.iter().find(|alone| alone.kind == kind).map_or(0.0, |a| 100.0 * a.share.median);
    let (tenure, store) = (percent(Kind::Tenure), percent(Kind::Store));
    let measured = format!("{tenure:.0} %; the store without its threads {store:.0} %");
    row("acquire and release, alone, at 97 % of the speed by hand", &measured, tenure >= 97.0)
}

fn shared(results: &Results, setting: Setting) -> String {
    let leases = match setting.leases {
        Leases::One => "one lease",
        Leases::Each => "as many leases",
    };
    let jain = |kind| results.over_rounds(setting, kind).jain;
    let (tenure, by_hand) = (jain(Kind::Tenure), jain(Kind::ByHand));
    let goal = format!("{} processes on {leases}: Jain's index 0.95", setting.contenders);
    row(&goal, &format!("{tenure:.2}; by hand {by_hand:.2}"), tenure >= 0.95)
}

fn checked(Belief { is_held, clock, ratio }: Belief) -> String {
    let measured = format!("{ratio:.2} times: {is_held:.1} ns, {clock:.1} ns");
    row("`is_held()` at 1.5 times a reading of its clock", &measured, ratio <= 1.5)
}
