//! SPEC.md names, for each of its rules, the symbol of the crate, of the model and of the tests that stands for it.
//! Here each of them is looked up: it must exist, and the comment above it must cite the rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// R1 to R12 are the lease's, G1 to G8 the guard's.
const RULES: [char; 2] = ['R', 'G'];

const NOT_BUILT: &str = "not built yet";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn spec() -> String {
    std::fs::read_to_string(repository().join("SPEC.md")).unwrap()
}

/// `R7` of `### R7 an unknown outcome is an outcome`.
fn rules(spec: &str) -> Vec<String> {
    let headings = spec.lines().filter_map(|line| line.strip_prefix("### "));
    let first_words = headings.map(|heading| heading.split(' ').next().unwrap().to_owned());
    first_words.filter(|word| word.strip_prefix(RULES).is_some_and(is_number)).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// The rows of the table under "Where each rule lives": the rule, then what stands in each column.
fn table(spec: &str) -> Vec<(String, Vec<String>)> {
    let section = spec.split("## Where each rule lives").nth(1).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| R") || line.starts_with("| G"));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        (cells.next().unwrap(), cells.collect())
    })
    .collect()
}

/// The rules that a comment cites, in the words `SPEC.md R4, R5`.
fn cited(comment: &str) -> BTreeSet<String> {
    let mut rules = BTreeSet::new();
    for after in comment.split("SPEC.md ").skip(1) {
        for word in after.split([',', ' ', ')', '.', ':', ';', '\n']).filter(|word| !word.is_empty()) {
            match word.strip_prefix(RULES) {
                Some(number) if is_number(number) => rules.insert(word.to_owned()),
                _ if word == "and" => continue,
                _ => break,
            };
        }
    }
    rules
}

/// The comment above a symbol's definition; attributes may stand between.
fn comment_above(source: &str, symbol: &str) -> Option<String> {
    let defines = |line: &str| {
        let line = line.trim_start().trim_start_matches("pub ").trim_start_matches("pub(super) ");
        let line = line.trim_start_matches("pub(crate) ").trim_start_matches("const fn ");
        let name = ["fn ", "struct ", "enum ", "const ", "macro_rules! "]
            .iter()
            .find_map(|kind| line.strip_prefix(kind))
            .unwrap_or(line);
        name.strip_prefix(symbol)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let lines: Vec<&str> = source.lines().collect();
    let at = lines.iter().position(|line| !line.trim_start().starts_with("//") && defines(line))?;
    let above = lines[..at].iter().rev().map(|line| line.trim_start());
    let mut comment: Vec<&str> =
        above.take_while(|line| line.starts_with("//") || line.starts_with("#[")).collect();
    comment.reverse();
    let text = comment.iter().map(|line| line.trim_start_matches('/').trim());
    Some(text.collect::<Vec<_>>().join(" "))
}

/// What is wrong with a cell: `` `path` `symbol` ``, or "not built yet".
fn wrong_with(rule: &str, cell: &str) -> Option<String> {
    if cell == NOT_BUILT {
        return None;
    }
    let words: Vec<&str> = cell.split('`').filter(|word| !word.trim().is_empty()).collect();
    let [path, symbol] = words[..] else { return Some(format!("{rule}: {cell:?} is no path and symbol")) };
    let Ok(source) = std::fs::read_to_string(repository().join(path)) else {
        return Some(format!("{rule}: there is no {path}"));
    };
    match comment_above(&source, symbol) {
        None => Some(format!("{rule}: {path} defines no {symbol}")),
        Some(comment) if !cited(&comment).contains(rule) => {
            Some(format!("{rule}: the comment above {symbol} in {path} does not cite it"))
        }
        Some(_) => None,
    }
}

#[test]
fn every_rule_is_cited_by_the_symbols_that_stand_for_it() {
    let spec = spec();
    let table = table(&spec);
    let listed: Vec<&String> = table.iter().map(|(rule, _)| rule).collect();
    assert_eq!(listed, rules(&spec).iter().collect::<Vec<_>>(), "one row for each rule, in order");
    let wrong = table.iter().flat_map(|(rule, cells)| {
        assert_eq!(cells.len(), 3, "{rule}: the crate, the model, a test");
        cells.iter().filter_map(|cell| wrong_with(rule, cell))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_comment_cites_a_rule_that_does_not_exist() {
    let rules: BTreeSet<String> = rules(&spec()).into_iter().collect();
    assert_eq!(rules.len(), 12 + 8);
    let mut cited_anywhere = 0;
    let mut folders = ["impl", "model", "tests", "benches"].map(|name| repository().join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let cited = cited(&std::fs::read_to_string(&entry).unwrap());
                cited_anywhere += cited.len();
                assert!(cited.is_subset(&rules), "{}: {cited:?}", entry.display());
            }
        }
    }
    assert!(cited_anywhere > 30, "the search found next to nothing");
}

#[test]
fn citations_are_read_as_people_write_them() {
    let rules = |text: &str| cited(text).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(rules("over for good (SPEC.md R5). And SPEC.md R4, R12: see"), "R12 R4 R5");
    assert_eq!(rules("SPEC.md R1 and R8, as built. R9 does not count"), "R1 R8");
    assert_eq!(rules("SPEC.md's states; SPEC.md says R2 somewhere"), "");
    assert_eq!(comment_above("/// a\n#[test]\nfn abc() {}", "abc").unwrap(), "a #[test]");
    assert_eq!(comment_above("fn abcd() {}", "abc"), None);
    assert!(wrong_with("R1", "`SPEC.md` `nothing`").is_some());
    assert!(wrong_with("R1", "`no/such/file.rs` `nothing`").is_some());
    assert!(wrong_with("R1", "`tests/tests/citations.rs` `spec`").is_some_and(|w| w.contains("not cite")));
}
