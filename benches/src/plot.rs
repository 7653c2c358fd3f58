//! The plot: Jain's index by the number of processes, the crate beside what is written by hand.

use crate::contender::Kind;
use crate::contest::{Leases, Setting, Who};
use crate::rounds::{Plan, Results};
use std::fmt::Write;

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 200.0;
const TOP: f64 = 50.0;

/// For light pages and for dark ones.
const HEAD: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 740 300" font-family="sans-serif" font-size="13">
<title>Jain's index by the number of processes</title>
<style>
  text { fill: #333 } .line { stroke: #ccc }
  @media (prefers-color-scheme: dark) { text { fill: #ddd } .line { stroke: #555 } }
  .tenure { stroke: #2a78d6; fill: #2a78d6 } .by-hand { stroke: #d95926; fill: #d95926 }
  polyline { fill: none !important; stroke-width: 2 } .by-hand polyline { stroke-dasharray: 6 4 }
</style>
"##;

/// Draws it.
pub fn svg(plan: &Plan, results: &Results) -> String {
    let mut svg = HEAD.to_owned();
    for (left, leases, title) in
        [(45.0, Leases::One, "N processes on one lease"), (410.0, Leases::Each, "N processes on N leases")]
    {
        svg += &frame(plan, left, title);
        svg += &curve(plan, results, left, leases, (Kind::Tenure, "tenure"));
        svg += &curve(plan, results, left, leases, (Kind::ByHand, "by-hand"));
    }
    svg + "</svg>\n"
}

/// Title, and a line and a number for each fifth of the index and for each size.
fn frame(plan: &Plan, left: f64, title: &str) -> String {
    let mut svg = format!("<text x=\"{left}\" y=\"25\">Jain's index, {title}</text>\n");
    for fifth in 0..=5 {
        let (index, right) = (f64::from(fifth) / 5.0, left + WIDTH);
        let y = y(index);
        let _ = writeln!(svg, r#"<line class="line" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>"#);
        let _ =
            writeln!(svg, r#"<text x="{}" y="{}" text-anchor="end">{index:.1}</text>"#, left - 8.0, y + 4.0);
    }
    for (place, size) in plan.sizes.iter().enumerate() {
        let (x, y) = (x(plan, left, place), TOP + HEIGHT + 20.0);
        let _ = writeln!(svg, r#"<text x="{x}" y="{y}" text-anchor="middle">{size}</text>"#);
    }
    svg
}

/// One contender for a lease of its own is one for one lease.
fn curve(plan: &Plan, results: &Results, left: f64, leases: Leases, (kind, class): (Kind, &str)) -> String {
    let point = |(place, &contenders): (usize, &usize)| {
        let leases = if contenders == 1 { Leases::One } else { leases };
        let setting = Setting { who: Who::Processes, leases, contenders };
        (x(plan, left, place), y(results.over_rounds(setting, kind).jain))
    };
    let points: Vec<_> = plan.sizes.iter().enumerate().map(point).collect();
    let line: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut svg = format!("<g class=\"{class}\"><polyline points=\"{}\"/>\n", line.join(" "));
    for (x, y) in &points {
        let _ = writeln!(svg, r#"<circle cx="{x:.1}" cy="{y:.1}" r="3.5"/>"#);
    }
    let (x, y) = points.last().copied().unwrap_or_default();
    // Two that end at one place are still told apart.
    let y = if kind == Kind::Tenure { y - 3.0 } else { y + 12.0 };
    svg + &format!("</g>\n<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>\n", x + 10.0, kind.name())
}

fn x(plan: &Plan, left: f64, place: usize) -> f64 {
    left + WIDTH * place as f64 / plan.sizes.len().saturating_sub(1).max(1) as f64
}

fn y(index: f64) -> f64 {
    TOP + HEIGHT * (1.0 - index)
}
