//! SPEC.md lists the model's broken variants, with what each breaks and how soon: as the model has it.

use model::broken::{BROKEN, Soonest};

fn told(known: Soonest) -> String {
    match known.1 {
        [] => "nothing".to_owned(),
        properties => format!("{} ({})", properties.join("; "), known.0),
    }
}

#[test]
fn the_table_of_variants_is_the_models() {
    let spec = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../SPEC.md")).unwrap();
    let table = spec.split("Rules are shown necessary").nth(1).unwrap();
    let rows =
        table.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| line.starts_with("| `"));
    let found: Vec<&str> = rows.collect();
    let known = BROKEN.map(|known| {
        let (name, what) = (known.variant.name(), model::explain::description(known.variant));
        format!("| `{name}`: {what} | {} | {} | {} |", known.place(), told(known.sign), told(known.harm))
    });
    let missing: Vec<&String> = known.iter().filter(|row| !found.contains(&row.as_str())).collect();
    assert!(missing.is_empty(), "SPEC.md lacks: {missing:#?}");
    assert_eq!(found, known);
}

#[test]
fn the_runs_that_spec_shows_are_the_models() {
    let spec = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../SPEC.md")).unwrap();
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
