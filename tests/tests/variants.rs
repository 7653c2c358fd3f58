//! SPEC.md lists the model's broken variants, with what each breaks and how soon: as the model has it.

use model::broken::{BROKEN, Soonest};
use model::guard;

fn spec() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../SPEC.md")).unwrap()
}

/// The rows of the first table after some words whose cells begin with code.
fn rows_after<'a>(spec: &'a str, words: &str) -> Vec<&'a str> {
    let after = spec.split(words).nth(1).unwrap();
    after
        .lines()
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with("| `"))
        .collect()
}

#[track_caller]
fn same_rows(known: &[String], found: &[&str]) {
    let missing: Vec<&String> = known.iter().filter(|row| !found.contains(&row.as_str())).collect();
    assert!(missing.is_empty(), "SPEC.md lacks: {missing:#?}");
    assert_eq!(found, known);
}

fn told(known: Soonest) -> String {
    match known.1 {
        [] => "nothing".to_owned(),
        properties => format!("{} ({})", properties.join("; "), known.0),
    }
}

#[test]
fn the_table_of_variants_is_the_models() {
    let known = BROKEN.map(|known| {
        let (name, what) = (known.variant.name(), model::explain::description(known.variant));
        format!("| `{name}`: {what} | {} | {} | {} |", known.place(), told(known.sign), told(known.harm))
    });
    same_rows(&known, &rows_after(&spec(), "Rules are shown necessary"));
}

#[test]
fn the_table_of_the_guards_variants_is_the_models() {
    let known = guard::check::BROKEN.map(|known| {
        let (name, what) = (known.variant.name(), model::explain::description(known.variant));
        format!("| `{name}`: {what} | {} | {} ({}) |", known.rule, known.property, known.length)
    });
    same_rows(&known, &rows_after(&spec(), "Each rule that has a variant"));
}

/// In SPEC.md, and on the page of the module.
#[test]
fn the_race_that_is_shown_is_the_models() {
    let race = guard::story::race().unwrap().to_string();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../impl/src/instance/mod.rs"));
    let page: Vec<String> = page
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned())
        .collect();
    for (shown, name) in [(spec(), "SPEC.md"), (page.join("\n"), "impl/src/instance/mod.rs")] {
        let drawn = shown.split("```text\n").find(|text| text.starts_with("two instances run")).unwrap();
        let drawn = drawn.split("```").next().unwrap();
        assert_eq!(drawn.trim_end(), race.trim_end(), "the second is what {name} should show");
    }
}

#[test]
fn the_runs_that_spec_shows_are_the_models() {
    let spec = spec();
    let shown: Vec<&str> = spec.split(" explain ").skip(1).filter(|text| text.contains("```text")).collect();
    assert_eq!(shown.len(), 3, "three runs are shown");
    for text in shown {
        let name = text.split(['\n', '`']).next().unwrap();
        let variant = BROKEN.iter().find(|known| known.variant.name() == name).unwrap().variant;
        let drawn = text.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
        let story = model::explain::story(variant).unwrap().to_string();
        assert_eq!(drawn.trim_end(), story.trim_end(), "{name}: the second is what SPEC.md should show");
    }
}
