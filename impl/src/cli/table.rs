//! What people read: columns, and text that somebody else wrote.

/// What is longer was not written by Tenure, and is cut.
const LENGTH_MAX: usize = 330;

/// Lines of columns that stand under each other; each cell is made safe to print.
pub(super) fn lines<const N: usize>(rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| cut(&safe(cell)))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The text's beginning, if it is too long to read.
pub(super) fn cut(text: &str) -> String {
    let mut begin: String = text.chars().take(LENGTH_MAX).collect();
    if begin.len() < text.len() {
        begin.push('…');
    }
    begin
}

/// Text that can neither steer a terminal nor change the order of what stands around it.
pub(super) fn safe(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        if steers(c) { safe.extend(c.escape_default()) } else { safe.push(c) }
    }
    safe
}

/// The same for JSON, where such a character stands in strings only, and all of them have four digits. By itself JSON
/// escapes but the first 32.
pub(super) fn safe_json(json: &str) -> String {
    let mut safe = String::new();
    for c in json.chars() {
        if c != '\n' && steers(c) {
            safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Control characters, separators of lines, and marks of the direction of writing.
fn steers(c: char) -> bool {
    let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    c.is_control()
        || marks.contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_wrote_stays_in_its_column() {
        let rows = [["a", "b"], ["x\u{1b}[2J\n", "ü\u{202e}\u{9b}"]].map(|row| row.map(str::to_owned));
        assert_eq!(lines(&rows), "a             b\nx\\u{1b}[2J\\n  ü\\u{202e}\\u{9b}\n");
        assert_eq!(safe_json("[\n\"\u{7f}\u{9b}\u{2028}ü\"]"), "[\n\"\\u007f\\u009b\\u2028ü\"]");
    }
}
