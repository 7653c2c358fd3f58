//! A story for the terminal: time runs downward, with a lane for each contender and one for the store.

use super::{Bar, Idle, Moment, Story, Way, Wire, wrapped};

/// The width of it all, for up to three contenders.
const WIDTH: usize = 100;
/// The least width of a contender's lane: of more contenders all is wider.
const LANE: usize = 24;
/// Of the time at the left.
const TIME: usize = 4;
/// Of a contender's bar.
const BAR: usize = 3;
/// Of the store's lane.
const STORE: usize = 24;

/// What the signs mean in a lease's story.
pub(super) const LEGEND: [&str; 4] = [
    "▐1▌ a tenure with its fence, █ up to its deadline; │ what remains of its work; ┊ no tenure",
    "╌╌ a request sets out, ──▶ and is carried out, ◀── its reply arrives; ✗ given up, lost; ══▶ late",
    "░ stalls: could go on and does not, or its local clock stands still; ≈ its request is under way",
    "store: holder, fence, ticks until it expires; t: ticks passed; acts for n: ticks to its deadline",
];

/// The story as text, at most 100 columns wide for up to three contenders.
pub fn terminal(story: &Story) -> String {
    let places = Places::of(story.lanes.len());
    let mut lines = vec![story.title.clone(), story.times.clone(), String::new()];
    lines.extend(head(&places, story));
    let mut before = None;
    for moment in &story.moments {
        lines.extend(lines_of(&places, before, moment));
        before = Some(moment);
    }
    lines.push(end(&places, story));
    for paragraph in &story.paragraphs {
        lines.push(String::new());
        lines.extend(wrapped(paragraph, WIDTH));
    }
    lines.push(String::new());
    lines.extend(story.legend.map(str::to_owned));
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Where everything is: half of the contenders on each side of the store, so that between two nobody's requests cross
/// another's lane.
struct Places {
    width: usize,
    bars: Vec<usize>,
    note: usize,
    store: usize,
    left: usize,
}

impl Places {
    fn of(lanes: usize) -> Places {
        let width = WIDTH.max(TIME + STORE + LANE * lanes);
        let lane = (width - TIME - STORE) / lanes.max(1);
        // Between a lane and the store at least “granted 1” must fit.
        let note = ((lane - BAR) * 11 / 20).min(lane.saturating_sub(BAR + 11));
        let left = lanes.div_ceil(2);
        let store = TIME + left * lane;
        let bar = |i: usize| match i < left {
            true => TIME + i * lane + note,
            false => store + STORE + (i - left) * lane + lane - note - BAR,
        };
        Places { width, bars: (0..lanes).map(bar).collect(), note, store, left }
    }

    fn is_left(&self, lane: usize) -> bool {
        lane < self.left
    }

    /// What is between a lane and the store: where it begins, and its width.
    fn wire(&self, lane: usize) -> (usize, usize) {
        let (bar, after) = (self.bars[lane], self.store + STORE);
        match self.is_left(lane) {
            true => (bar + BAR, self.store - bar - BAR),
            false => (after, bar - after),
        }
    }
}

/// A line of the picture.
struct Line(Vec<char>);

impl Line {
    fn new(places: &Places) -> Line {
        Line(vec![' '; places.width])
    }

    /// Writes over what is there; what does not fit is left off.
    fn put(&mut self, at: usize, text: &str) {
        for (place, char) in self.0.iter_mut().skip(at).zip(text.chars()) {
            *place = char;
        }
    }

    fn text(self) -> String {
        self.0.into_iter().collect()
    }
}

fn head(places: &Places, story: &Story) -> Vec<String> {
    let (mut names, mut under) = (Line::new(places), Line::new(places));
    names.put(0, "t");
    names.put(places.store + 2, "store");
    under.put(0, "0");
    put_store(&mut under, places, &story.row);
    for (i, lane) in story.lanes.iter().enumerate() {
        names.put(places.bars[i] + 1, &lane.name);
        under.put(places.bars[i], " ┊ ");
        put_note(&mut names, places, i, &lane.about);
    }
    vec![names.text(), under.text()]
}

/// Beside the bar, on the side that is away from the store.
fn put_note(line: &mut Line, places: &Places, lane: usize, note: &str) {
    let bar = places.bars[lane];
    match places.is_left(lane) {
        true => line.put(bar.saturating_sub(1 + note.chars().count()), note),
        false => line.put(bar + BAR + 1, note),
    }
}

fn put_store(line: &mut Line, places: &Places, text: &str) {
    line.put(places.store, &format!("│ {text:<width$} │", width = STORE - 4));
}

fn lines_of(places: &Places, before: Option<&Moment>, moment: &Moment) -> Vec<String> {
    let notes = |i: usize| wrapped(&moment.strands[i].note, places.note - 1);
    let all: Vec<_> = (0..moment.strands.len()).map(notes).collect();
    let store = wrapped(moment.store.as_deref().unwrap_or_default(), STORE - 4);
    let height = all.iter().map(Vec::len).chain([store.len(), 1]).max().unwrap_or(1);
    let mut lines = Vec::new();
    if let Some(fault) = &moment.across {
        lines.push(across(fault));
    }
    let nothing_more = moment.across.is_some() && store.is_empty() && all.iter().all(Vec::is_empty);
    for row in 0..if nothing_more { 0 } else { height } {
        let mut line = Line::new(places);
        if row == 0 {
            put_wires(&mut line, places, moment);
        }
        put_store(&mut line, places, store.get(row).map_or("", String::as_str));
        for (i, notes) in all.iter().enumerate() {
            put_bar(&mut line, places, before.filter(|_| row == 0), moment, i, row);
            put_note(&mut line, places, i, notes.get(row).map_or("", String::as_str));
        }
        lines.push(line.text());
    }
    lines
}

fn across(fault: &str) -> String {
    let text = format!(" {fault} ");
    format!("    {text:═^width$}", width = WIDTH - TIME)
}

/// A tick is a line through all lanes.
fn put_wires(line: &mut Line, places: &Places, moment: &Moment) {
    if moment.tick {
        line.put(0, &moment.time.to_string());
        for lane in 0..places.bars.len() {
            let (at, width) = places.wire(lane);
            line.put(at, &"┈".repeat(width));
        }
    }
    for wire in &moment.wires {
        let (at, width) = places.wire(wire.who);
        line.put(at, &drawn(wire, width, places.is_left(wire.who)));
    }
}

/// A request, or its reply, from or to a lane on this side.
fn drawn(wire: &Wire, width: usize, left: bool) -> String {
    let (fill, from, to) = match wire.way {
        Way::Sent => ('╌', ' ', '╌'),
        Way::CarriedOut => ('─', '─', if left { '▶' } else { '◀' }),
        Way::Late => ('═', '═', if left { '▶' } else { '◀' }),
        Way::Delivered => ('─', if left { '◀' } else { '▶' }, '─'),
        Way::RequestLost => ('╌', ' ', '✗'),
        Way::ReplyLost => ('╌', '✗', '╌'),
    };
    let inner = width.saturating_sub(2);
    let spaced = format!(" {} ", wire.label);
    let fits = spaced.chars().count() <= inner && wire.way != Way::Late;
    let label: String = if fits { spaced } else { wire.label.chars().take(inner).collect() };
    let more = inner.saturating_sub(label.chars().count());
    let fills = |n: usize| fill.to_string().repeat(n);
    match left {
        true => format!("{from}{}{label}{}{to}", fills(more / 2), fills(more - more / 2)),
        false => format!("{to}{}{label}{}{from}", fills(more - more / 2), fills(more / 2)),
    }
}

fn put_bar(
    line: &mut Line,
    places: &Places,
    before: Option<&Moment>,
    moment: &Moment,
    lane: usize,
    row: usize,
) {
    let strand = &moment.strands[lane];
    let shade = match strand.idle {
        Idle::No => ' ',
        Idle::Stalls => '░',
        Idle::Waits => '≈',
    };
    let began = strand.bar.begins(before.map(|moment| &moment.strands[lane].bar)).filter(|_| row == 0);
    let inner = match &strand.bar {
        Bar::Over => ' ',
        Bar::Nothing => '┊',
        Bar::Acts(_) => '█',
        Bar::Remains(_) => '│',
    };
    let bar = match began {
        Some(fence) if fence.chars().count() == 1 => format!("▐{fence}▌"),
        Some(fence) => format!("{fence:^3}"),
        None => format!("{shade}{inner}{shade}"),
    };
    line.put(places.bars[lane], &bar);
}

/// Marks what is wrong.
fn end(places: &Places, story: &Story) -> String {
    let mut line = Line::new(places);
    put_store(&mut line, places, if story.store_wrong { "✗" } else { "" });
    for (i, wrong) in story.wrong.iter().enumerate() {
        line.put(places.bars[i] + 1, if *wrong { "✗" } else { " " });
    }
    line.text()
}
