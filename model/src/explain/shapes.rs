//! SVG, by hand: a few shapes, and text that is escaped.

use std::fmt::Write;

pub(super) const INK: &str = "#222222";
pub(super) const GREY: &str = "#777777";
pub(super) const PALE: &str = "#d9d9d9";
/// Two accents that everybody can tell apart: a tenure is blue, what is wrong or lost is vermilion.
pub(super) const BLUE: &str = "#0072b2";
pub(super) const RED: &str = "#d55e00";

/// What has been drawn so far.
#[derive(Default)]
pub(super) struct Sheet(String);

/// On which side of a text its place is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub(super) struct Type {
    pub(super) size: i32,
    pub(super) bold: bool,
    pub(super) colour: &'static str,
}

pub(super) const PLAIN: Type = Type { size: 12, bold: false, colour: INK };
pub(super) const BOLD: Type = Type { size: 13, bold: true, colour: INK };
pub(super) const SMALL: Type = Type { size: 11, bold: false, colour: GREY };

/// A place on the sheet.
pub(super) type At = (i32, i32);

impl Sheet {
    pub(super) fn rect(&mut self, (x, y): At, (width, height): At, radius: i32, fill: &str, stroke: &str) {
        self.add(format_args!(
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{radius}" fill="{fill}" stroke="{stroke}"/>"#
        ));
    }

    /// `dashes` as SVG has them; none is a line without gaps.
    pub(super) fn line(&mut self, (x1, y1): At, (x2, y2): At, colour: &str, width: i32, dashes: &str) {
        self.add(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{}"/>"#,
            if dashes.is_empty() { "none" } else { dashes }
        ));
    }

    /// A line with a head at its end.
    pub(super) fn arrow(&mut self, from: At, to: At, colour: &str, dashes: &str) {
        self.line(from, to, colour, 1, dashes);
        self.head(from, to, colour);
    }

    fn head(&mut self, (x1, y1): At, (x2, y2): At, colour: &str) {
        let (dx, dy) = (f64::from(x2 - x1), f64::from(y2 - y1));
        let length = dx.hypot(dy).max(1.0);
        let (ux, uy) = (dx / length, dy / length);
        let corner = |along: f64, across: f64| {
            let (x, y) = (f64::from(x2) - along * ux, f64::from(y2) - along * uy);
            format!("{:.1},{:.1}", x - across * uy, y + across * ux)
        };
        let (left, right) = (corner(9.0, 4.0), corner(9.0, -4.0));
        self.add(format_args!(r#"<polygon points="{x2},{y2} {left} {right}" fill="{colour}"/>"#));
    }

    pub(super) fn cross(&mut self, (x, y): At, half: i32) {
        self.line((x - half, y - half), (x + half, y + half), RED, 3, "");
        self.line((x - half, y + half), (x + half, y - half), RED, 3, "");
    }

    pub(super) fn text(&mut self, (x, y): At, anchor: Anchor, how: Type, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if how.bold { "bold" } else { "normal" };
        self.add(format_args!(
            r#"<text x="{x}" y="{y}" text-anchor="{anchor}" font-size="{}" font-weight="{weight}" fill="{}">{}</text>"#,
            how.size,
            how.colour,
            escaped(text)
        ));
    }

    fn add(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{shape}");
    }

    /// The whole picture.
    pub(super) fn finish(self, title: &str, width: i32, height: i32) -> String {
        format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif" role="img">
<title>{}</title>
<defs><pattern id="stall" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#e4e4e4"/></pattern>
<pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M0,6 L6,0 M-1,1 L1,-1 M5,7 L7,5" stroke="#999999" stroke-width="1"/></pattern></defs>
<rect width="{width}" height="{height}" fill="#ffffff"/>
{}</svg>
"##,
            escaped(title),
            self.0
        )
    }
}

/// Text, as it may stand in SVG.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            char => out.push(char),
        }
    }
    out
}
