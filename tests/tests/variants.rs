//! SPEC.md lists the model's broken variants, with the property that each breaks and how soon: as the model has it.

use model::check::BROKEN;

#[test]
fn the_table_of_variants_is_the_models() {
    let spec = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../SPEC.md")).unwrap();
    let rows = spec.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 5);
    let told: Vec<(String, String, usize)> = rows
        .filter_map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let name = cells[0].split('`').nth(1)?;
            Some((name.to_owned(), cells[2].to_owned(), cells[3].parse().ok()?))
        })
        .collect();
    let known = BROKEN.map(|(variant, property, length)| (variant.name(), property.to_owned(), length));
    assert_eq!(told, known);
}
