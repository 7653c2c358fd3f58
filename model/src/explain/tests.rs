//! Each story is whole and true to its run, and two look as they did.

use super::{Bar, Story, of_run, story, svg, terminal, words};
use crate::Lease;
use crate::actions::Action;
use crate::broken::{self, BROKEN, Broken};
use crate::config::{Config, Part, Variant};
use crate::contender::Move;
use crate::properties::{HARMS, ONE_ACTS, OUTCOMES};
use crate::walk::{Run, shortest_breaks};
use clap::ValueEnum;
use stateright::Model;

/// Each variant that breaks something, and its story.
fn stories() -> impl Iterator<Item = (&'static Broken, Story)> {
    let breaking = BROKEN.iter().filter(|broken| !broken.sign.1.is_empty());
    breaking.map(|broken| (broken, story(broken.variant).expect("what breaks has a story")))
}

#[test]
fn whatever_breaks_has_a_story_and_a_picture() {
    for (broken, story) in stories() {
        let name = broken.variant.name();
        assert!(!story.moments.is_empty(), "{name}");
        assert!(story.store_wrong || story.wrong.contains(&true), "{name}: nobody is concerned");
        assert_eq!(story.lanes.len(), 2, "{name}: a lane for each contender");
        assert!(story.moments.iter().all(|moment| moment.strands.len() == 2), "{name}");
        assert!(terminal(&story).lines().all(|line| line.chars().count() <= 100), "{name} is too wide");
        well_formed(&svg(&story), &name);
    }
}

#[test]
fn every_story_ends_where_its_property_is_broken() {
    for broken in BROKEN.iter().filter(|broken| !broken.sign.1.is_empty()) {
        let lease = broken::without(broken.variant);
        let among = if broken.harm.1.is_empty() { &OUTCOMES[..] } else { &HARMS[..] };
        let (name, run) = shortest_breaks(&lease, among).expect("it breaks").runs.swap_remove(0);
        let end = |state, action: &_| lease.next_state(&state, *action).expect("a step");
        let end = run.actions.iter().fold(run.begin, end);
        let property = lease.properties().into_iter().find(|property| property.name == name);
        assert!(!(property.expect("a property").condition)(&lease, &end), "{name}");
        let told = of_run(&lease.config, &run, name);
        assert_eq!(told.moments.len(), run.actions.len(), "every step is told");
        let drawn = told.moments.last().map(|moment| moment.strands.iter().zip(end.named()));
        for (strand, (who, one)) in drawn.expect("a moment") {
            let acts = matches!(strand.bar, Bar::Acts(_));
            assert_eq!(acts, one.acts(&lease.config, who).is_some(), "{name}");
        }
    }
}

#[test]
fn what_breaks_nothing_has_no_story_but_a_reason() {
    for broken in &BROKEN {
        assert!(words(broken.variant).ends_with('.'), "{:?}", broken.variant);
        if broken.sign.1.is_empty() {
            assert_eq!(story(broken.variant), None);
            assert!(words(broken.variant).starts_with("Nothing breaks: "), "{:?}", broken.variant);
        }
    }
}

/// Also where nothing is broken, whatever can happen, and with three contenders.
#[test]
fn any_run_can_be_drawn() {
    for part in Part::value_variants() {
        let others = [*part, Part::LateRequests, Part::Crashes, Part::ClockSteps];
        draws(&Lease::<2>::new(Config::PLAIN.with(&others)));
        draws(&Lease::<3>::new(Config::PLAIN.with(&others)));
    }
}

fn draws<const N: usize>(lease: &Lease<N>) {
    for seed in 0..20 {
        let told = of_run(&lease.config, &some_run(lease, seed, 60), ONE_ACTS);
        assert_eq!(told.lanes.len(), N);
        let text = terminal(&told);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        well_formed(&svg(&told), "a run");
    }
}

/// With all its rules the store counts up one by one, however many ranks the model has forgotten meanwhile.
#[test]
fn fences_rise_one_by_one() {
    let parts = [Part::Failures, Part::LateRequests, Part::Crashes, Part::Shutdowns];
    let lease = Lease::<2>::new(Config::PLAIN.with(&parts));
    let mut grants = 0;
    for seed in 0..300 {
        let told = of_run(&lease.config, &some_run(&lease, seed, 120), ONE_ACTS);
        let rows = told.moments.iter().filter_map(|moment| moment.store.as_deref());
        let fences =
            rows.filter_map(|row| row.split_once("fence ")?.1.split_once(':')?.0.parse::<u32>().ok());
        let last = fences.fold(0, |last, fence| {
            assert!(fence == last || fence == last + 1, "{told}");
            fence
        });
        grants += last;
    }
    assert!(grants > 600, "too few to mean anything: {grants}");
}

/// A run that goes where the seed leads it. Crashes and the like are rare in it.
fn some_run<const N: usize>(lease: &Lease<N>, mut seed: u64, length: usize) -> Run<N> {
    let begin = lease.init_states()[0];
    let (mut state, mut actions) = (begin, Vec::new());
    for _ in 0..length {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let ends =
            |action: &Action| matches!(action, Action::Move(_, Move::Crash | Move::Shutdown | Move::Fail));
        let calm = |action: &Action| seed >> 60 == 0 || !ends(action);
        let steps = lease.offered(&state).filter(calm);
        let steps: Vec<_> =
            steps.filter_map(|action| Some((action, lease.next_state(&state, action)?))).collect();
        let Some((action, after)) = steps.get((seed >> 33) as usize % steps.len().max(1)) else { break };
        actions.push(*action);
        state = *after;
    }
    Run { begin, actions }
}

/// Each fence is the number that a store would give out, also when the model has forgotten lower ones.
#[test]
fn fences_do_not_sink() {
    let told = story(Variant::UnboundAcquire).expect("a story");
    let acts =
        |moment: &super::Moment| -> Vec<Bar> { moment.strands.iter().map(|s| s.bar.clone()).collect() };
    let end = told.moments.last().map(acts);
    assert_eq!(end, Some(vec![Bar::Acts("2".to_owned()), Bar::Acts("3".to_owned())]));
}

#[test]
fn two_look_as_they_did() {
    let no_margin = include_str!("snapshots/no-margin.txt");
    let not_durable = include_str!("snapshots/not-durable.txt");
    for (variant, before) in [(Variant::NoMargin, no_margin), (Variant::NotDurable, not_durable)] {
        let now = terminal(&story(variant).expect("a story"));
        let name = variant.name();
        assert!(
            now == before,
            "{name} looks different. If that is meant, put what follows between the lines into \
             model/src/explain/snapshots/{name}.txt:\n----\n{now}----"
        );
    }
}

/// Tags are balanced, and no text has a character that must be escaped.
fn well_formed(svg: &str, name: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{name}: {text}");
        let escaped = text
            .split('&')
            .skip(1)
            .all(|end| ["amp;", "lt;", "gt;", "quot;"].iter().any(|entity| end.starts_with(entity)));
        assert!(escaped, "{name}: {text}");
        let (tag, after) = after.split_once('>').expect("a tag ends");
        assert_eq!(tag.matches('"').count() % 2, 0, "{name}: {tag}");
        match (tag.strip_prefix('/'), tag.ends_with('/')) {
            (Some(closed), _) => assert_eq!(open.pop(), Some(closed), "{name}"),
            (None, true) => {}
            (None, false) => open.extend(tag.split_whitespace().next()),
        }
        rest = after;
    }
    assert_eq!((open.len(), rest.trim()), (0, ""), "{name}");
}

#[test]
fn text_is_escaped() {
    let told = story(Variant::NoMargin).expect("a story");
    let odd = svg(&Story { title: "a < b & \"c\" > d".to_owned(), ..told });
    assert!(odd.contains("a &lt; b &amp; &quot;c&quot; &gt; d"));
    well_formed(&odd, "odd");
}
