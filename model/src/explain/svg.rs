//! A story as an SVG picture: time runs downward, with a lane for each contender and one for the store.

use super::shapes::{Anchor, At, BLUE, BOLD, GREY, INK, PALE, PLAIN, RED, SMALL, Sheet, Type};
use super::{Bar, Idle, Moment, Story, wrapped};

const WIDTH: i32 = 880;
/// Of the time at the left.
const TIME: i32 = 44;
/// Of the store's lane.
const STORE: i32 = 170;
/// Where the first moment may begin.
const TOP: i32 = 118;
/// Of a line of text beside a lane.
const LINE: i32 = 14;

/// The story as a picture that needs nothing else.
pub fn svg(story: &Story) -> String {
    let places = Places::of(story);
    let mut sheet = Sheet::default();
    head(&mut sheet, &places, story);
    for (i, moment) in story.moments.iter().enumerate() {
        time(&mut sheet, &places, moment, i);
    }
    for lane in 0..story.lanes.len() {
        bars(&mut sheet, &places, story, lane);
    }
    for lane in 0..story.lanes.len() {
        super::wires::wires(&mut sheet, &places, story, lane);
    }
    for (i, moment) in story.moments.iter().enumerate() {
        across(&mut sheet, &places, moment, i);
        words(&mut sheet, &places, moment, i);
    }
    end(&mut sheet, &places, story);
    let height = foot(&mut sheet, story, places.bottom + 28);
    sheet.finish(&story.title, WIDTH, height)
}

/// Where everything is.
pub(super) struct Places {
    bars: Vec<i32>,
    note: i32,
    store: i32,
    left: usize,
    /// Of each moment: where it begins, and where its words are.
    moments: Vec<At>,
    /// Where time ends.
    pub(super) bottom: i32,
}

impl Places {
    fn of(story: &Story) -> Places {
        let lanes = story.lanes.len() as i32;
        let lane = (WIDTH - TIME - STORE) / lanes.max(1);
        let (note, left) = (lane * 9 / 20, lanes - lanes / 2);
        let store = TIME + left * lane;
        let bar = |i: i32| match i < left {
            true => TIME + i * lane + note,
            false => store + STORE + (i + 1 - left) * lane - note,
        };
        let bars = (0..lanes).map(bar).collect();
        let mut places = Places { bars, note, store, left: left as usize, moments: Vec::new(), bottom: TOP };
        for moment in &story.moments {
            let top = places.bottom;
            let lines = places.lines(moment) as i32;
            let (fault, more) = match (&moment.across, lines) {
                (Some(_), 0) => (0, 0),
                (Some(_), _) => (30, lines * LINE + 16),
                (None, _) => (0, lines * LINE + 16),
            };
            places.moments.push((top, top + fault + 15));
            places.bottom += fault + more.max(30);
        }
        places.bottom += 14;
        places
    }

    /// How many lines of text stand side by side at this moment.
    fn lines(&self, moment: &Moment) -> usize {
        let notes = moment.strands.iter().map(|strand| self.note_lines(&strand.note).len());
        let store = store_lines(moment.store.as_deref().unwrap_or_default()).len();
        notes.chain([store]).max().unwrap_or(0)
    }

    fn note_lines(&self, note: &str) -> Vec<String> {
        wrapped(note, usize::try_from((self.note - 20) / 7).unwrap_or(1))
    }

    /// Where what happens at this moment is drawn; words that do not fit in there are below it.
    pub(super) fn y(&self, moment: usize) -> i32 {
        self.moments.get(moment).map_or(self.bottom, |at| at.0 + 15)
    }

    /// Where a lane's requests begin and end: at its bar, halfway, and at the store.
    pub(super) fn wire(&self, lane: usize) -> [i32; 3] {
        let (side, edge) = if lane < self.left { (1, self.store) } else { (-1, self.store + STORE) };
        let (near, far) = (self.bars[lane] + side * 13, edge - side);
        [near, (near + far) / 2, far]
    }

    /// Whether the store is at the right of this lane.
    pub(super) fn is_left(&self, lane: usize) -> bool {
        lane < self.left
    }

    fn middle(&self) -> i32 {
        self.store + STORE / 2
    }
}

fn store_lines(text: &str) -> Vec<String> {
    wrapped(text, 22)
}

fn head(sheet: &mut Sheet, places: &Places, story: &Story) {
    sheet.text((16, 26), Anchor::Start, Type { size: 17, ..BOLD }, &story.title);
    sheet.text((16, 45), Anchor::Start, SMALL, &story.times);
    let (top, height) = (76, places.bottom - 76);
    sheet.rect((places.store, top), (STORE, height), 0, "#f4f4f4", "none");
    sheet.text((places.middle(), 68), Anchor::Middle, BOLD, "store");
    store_box(sheet, places, 94, std::slice::from_ref(&story.row));
    for (i, lane) in story.lanes.iter().enumerate() {
        sheet.text((places.bars[i], 68), Anchor::Middle, BOLD, &lane.name);
        note(sheet, places, i, 68, std::slice::from_ref(&lane.about), SMALL);
    }
    sheet.text((12, 98), Anchor::Start, SMALL, "t = 0");
}

/// What lies behind everything: ticks, faults, and time that is wasted.
fn time(sheet: &mut Sheet, places: &Places, moment: &Moment, i: usize) {
    let (top, y) = places.moments[i];
    let below = places.moments.get(i + 1).map_or(places.bottom, |at| at.0);
    for (strand, x) in moment.strands.iter().zip(&places.bars) {
        let fill = match strand.idle {
            Idle::No => continue,
            Idle::Stalls => "url(#stall)",
            Idle::Waits => "url(#wait)",
        };
        sheet.rect((x - 17, top), (34, below - top), 0, fill, "none");
    }
    if moment.tick {
        let (first, last) = (places.bars.iter().min(), places.bars.iter().max());
        let ends = |bar: Option<&i32>| bar.copied().unwrap_or(places.middle());
        sheet.line((ends(first), y), (ends(last), y), PALE, 1, "2 4");
        sheet.text((12, y + 4), Anchor::Start, SMALL, &format!("t = {}", moment.time));
    }
}

/// What happens to everybody is drawn over everything else.
fn across(sheet: &mut Sheet, places: &Places, moment: &Moment, i: usize) {
    if let Some(fault) = &moment.across {
        let top = places.moments[i].0;
        sheet.rect((12, top + 4), (WIDTH - 24, 22), 3, "#e9e9e9", GREY);
        sheet.text((WIDTH / 2, top + 19), Anchor::Middle, Type { size: 12, ..BOLD }, fault);
    }
}

/// A lane: what its contender has from each moment to the next.
fn bars(sheet: &mut Sheet, places: &Places, story: &Story, lane: usize) {
    let x = places.bars[lane];
    let nothing = |sheet: &mut Sheet, from, to| sheet.line((x, from), (x, to), GREY, 1, "1 4");
    nothing(sheet, 76, places.y(0));
    let mut before: Option<&Bar> = None;
    for (i, moment) in story.moments.iter().enumerate() {
        let (bar, from, to) = (&moment.strands[lane].bar, places.y(i), places.y(i + 1));
        match bar {
            Bar::Over => {}
            Bar::Nothing => nothing(sheet, from, to),
            Bar::Remains(_) => sheet.line((x, from), (x, to), BLUE, 2, ""),
            Bar::Acts(_) => sheet.rect((x - 6, from), (12, to - from), 0, BLUE, "none"),
        }
        if let Some(fence) = bar.begins(before) {
            let (half, size) = if fence.len() > 2 { (13, 10) } else { (11, 12) };
            sheet.rect((x - half, from - 9), (2 * half, 18), 4, BLUE, "#ffffff");
            sheet.text((x, from + 4), Anchor::Middle, Type { size, bold: true, colour: "#ffffff" }, fence);
        }
        before = Some(bar);
    }
}

/// The notes beside the lanes, and the store's rows.
fn words(sheet: &mut Sheet, places: &Places, moment: &Moment, i: usize) {
    let y = places.moments[i].1;
    for (lane, strand) in moment.strands.iter().enumerate() {
        note(sheet, places, lane, y + 4, &places.note_lines(&strand.note), PLAIN);
    }
    let Some(store) = &moment.store else { return };
    if moment.tick {
        sheet.text((places.middle(), y + 4), Anchor::Middle, SMALL, store);
    } else {
        store_box(sheet, places, y, &store_lines(store));
    }
}

/// Beside the bar, on the side that is away from the store.
fn note(sheet: &mut Sheet, places: &Places, lane: usize, y: i32, lines: &[String], how: Type) {
    let (x, anchor) = match places.is_left(lane) {
        true => (places.bars[lane] - 22, Anchor::End),
        false => (places.bars[lane] + 22, Anchor::Start),
    };
    for (y, line) in (0..).map(|i| y + i * LINE).zip(lines) {
        sheet.text((x, y), anchor, how, line);
    }
}

fn store_box(sheet: &mut Sheet, places: &Places, y: i32, lines: &[String]) {
    let height = 22 + (lines.len() as i32 - 1) * LINE;
    sheet.rect((places.store + 8, y - 11), (STORE - 16, height), 3, "#ffffff", GREY);
    for (y, line) in (0..).map(|i| y + 4 + i * LINE).zip(lines) {
        sheet.text((places.middle(), y), Anchor::Middle, PLAIN, line);
    }
}

/// Marks what is wrong.
fn end(sheet: &mut Sheet, places: &Places, story: &Story) {
    let y = places.bottom + 8;
    for (x, _) in places.bars.iter().zip(&story.wrong).filter(|(_, wrong)| **wrong) {
        sheet.cross((*x, y), 7);
    }
    if story.store_wrong {
        sheet.cross((places.middle(), y), 7);
    }
}

/// The paragraphs and the legend; returns where they end.
fn foot(sheet: &mut Sheet, story: &Story, top: i32) -> i32 {
    let mut y = top + 16;
    for paragraph in &story.paragraphs {
        for line in wrapped(paragraph, 118) {
            sheet.text((16, y), Anchor::Start, Type { size: 13, ..PLAIN }, &line);
            y += 18;
        }
        y += 6;
    }
    sheet.line((16, y), (WIDTH - 16, y), PALE, 1, "");
    legend(sheet, y + 20);
    y + 60
}

fn legend(sheet: &mut Sheet, y: i32) {
    let says = |sheet: &mut Sheet, x, y: i32, text| sheet.text((x, y + 4), Anchor::Start, SMALL, text);
    sheet.rect((18, y - 8), (12, 16), 0, BLUE, "none");
    says(sheet, 38, y, "a tenure, up to its deadline");
    sheet.line((24, y + 14), (24, y + 28), BLUE, 2, "");
    says(sheet, 38, y + 21, "what remains of its work");
    sheet.rect((222, y - 8), (26, 16), 0, "url(#stall)", "none");
    says(sheet, 256, y, "stalls: could go on, or its clock stands");
    sheet.rect((222, y + 13), (26, 16), 0, "url(#wait)", PALE);
    says(sheet, 256, y + 21, "its request is under way");
    sheet.arrow((500, y), (536, y), INK, "");
    says(sheet, 544, y, "a request, or its reply");
    sheet.arrow((500, y + 21), (536, y + 21), RED, "5 3");
    says(sheet, 544, y + 21, "carried out late");
    sheet.cross((704, y), 5);
    says(sheet, 718, y, "lost; in the end: wrong");
    says(sheet, 718, y + 21, "n left: ticks until it expires");
}
