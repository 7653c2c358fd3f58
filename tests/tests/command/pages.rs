//! Completions and manual pages.

use super::{Bench, Running, fresh};
use std::fs;
use std::process::Stdio;

fn tenure(bench: &Bench, words: &[&str]) -> super::Ended {
    let mut command = fresh();
    command.arg(env!("CARGO_BIN_EXE_tenure-under-test")).args(words);
    command.current_dir(bench.directory()).stdin(Stdio::null());
    Running::start(command).end()
}

#[test]
fn each_shells_completions_know_the_subcommands() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = tenure(&bench, &["completions", shell]).expect(0).stdout;
        for word in ["run", "status", "release", "kill-lead"] {
            assert!(completions.contains(word), "{shell}: {word}");
        }
        assert!(!completions.contains("watch-job"), "{shell}: what users never call");
    }
    tenure(&bench, &["completions", "ksh"]).expect(2).says("ksh");
}

#[test]
fn there_is_a_manual_page_for_each_subcommand() {
    let bench = Bench::new();
    let directory = bench.db.beside("man1");
    tenure(&bench, &["man", "man1"]).expect(1).says("man1");
    fs::create_dir(&directory).unwrap();
    tenure(&bench, &["man", "man1"]).expect(0);
    for (page, says) in [
        ("tenure.1", "tenure"),
        ("tenure-run.1", "Exit codes"),
        ("tenure-status.1", "json"),
        ("tenure-release.1", "force"),
        ("tenure-instance.1", "Not a lock"),
    ] {
        let text = fs::read_to_string(directory.join(page)).unwrap();
        assert!(text.contains(says), "{page}");
    }
}

/// What somebody reads who was never told.
#[test]
fn the_help_of_run_has_three_examples_and_explains_loss_grace_and_exit_codes() {
    let bench = Bench::new();
    let first = tenure(&bench, &["--help"]).expect(0).stdout;
    assert_eq!(first.matches("    tenure ").count(), 3, "{first}");
    for words in [["help", "run"], ["run", "--help"]] {
        let help = tenure(&bench, &words).expect(0).stdout;
        assert!(help.matches("    tenure run --db").count() >= 3, "{help}");
        for word in ["Loss:", "Grace:", "Exit codes:", "76", "75", "69", "--restart"] {
            assert!(help.contains(word), "{word}: {help}");
        }
    }
}
