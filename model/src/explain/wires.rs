//! Requests and replies in the SVG picture.

use super::shapes::{Anchor, INK, PLAIN, RED, Sheet, Type};
use super::svg::Places;
use super::{Story, Way};

/// What is under way: whether it is a reply, and where it set out.
type UnderWay = Option<(bool, i32)>;

/// All of one lane.
pub(super) fn wires(sheet: &mut Sheet, places: &Places, story: &Story, lane: usize) {
    let mut under_way: UnderWay = None;
    for (i, moment) in story.moments.iter().enumerate() {
        for wire in moment.wires.iter().filter(|wire| wire.who == lane) {
            let one = One { places, lane, y: places.y(i), label: &wire.label };
            under_way = one.draw(sheet, wire.way, under_way);
        }
    }
    // What is under way in the end is shown to have set out.
    let y = under_way.map_or(places.bottom, |(_, since)| places.bottom.min(since + 40));
    One { places, lane, y, label: "" }.stops(sheet, under_way);
}

struct One<'a> {
    places: &'a Places,
    lane: usize,
    y: i32,
    label: &'a str,
}

impl One<'_> {
    fn draw(&self, sheet: &mut Sheet, way: Way, under_way: UnderWay) -> UnderWay {
        let [near, halfway, far] = self.places.wire(self.lane);
        let since = under_way.map_or(self.y, |(_, since)| since);
        match way {
            Way::Sent => {
                self.says(sheet, near, -4);
                Some((false, self.y))
            }
            Way::CarriedOut => {
                sheet.arrow((near, since), (far, self.y - 4), INK, "");
                Some((true, self.y + 4))
            }
            Way::Delivered => {
                sheet.arrow((far, since), (near, self.y), INK, "");
                self.says(sheet, near, 12);
                None
            }
            Way::RequestLost | Way::ReplyLost => {
                self.stops(sheet, under_way);
                sheet.cross((halfway, self.y), 5);
                None
            }
            Way::Late => {
                sheet.arrow((halfway, self.y), (far, self.y), RED, "5 3");
                self.says(sheet, halfway, -6);
                under_way
            }
        }
    }

    /// It gets no further than halfway.
    fn stops(&self, sheet: &mut Sheet, under_way: UnderWay) {
        let [near, halfway, far] = self.places.wire(self.lane);
        if let Some((reply, since)) = under_way {
            sheet.line((if reply { far } else { near }, since), (halfway, self.y), INK, 1, "3 3");
        }
    }

    fn says(&self, sheet: &mut Sheet, x: i32, below: i32) {
        let (x, anchor) =
            if self.places.is_left(self.lane) { (x + 6, Anchor::Start) } else { (x - 6, Anchor::End) };
        sheet.text((x, self.y + below), anchor, Type { size: 11, ..PLAIN }, self.label);
    }
}
