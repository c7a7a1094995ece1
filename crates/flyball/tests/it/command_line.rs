//! Help, version, usage errors, completions and manual pages.

use crate::world::World;

#[test]
fn wrong_usage_exits_with_64_and_never_with_an_outcome_s_code() {
    let world = World::empty();
    let cases: [&[&str]; 7] = [
        &[],
        &["no-such-command"],
        &["--no-such-flag"],
        &["config", "--no-such-flag"],
        &["config", "extra"],
        &["completions", "no-such-shell"],
        &["--color", "sometimes", "config"],
    ];
    for arguments in cases {
        let text = world.run(arguments).failed(64);
        assert!(text.contains("Usage:") || text.starts_with("error: "), "{arguments:?}: {text}");
    }
}

#[test]
fn help_and_version_are_what_was_asked_for() {
    let world = World::empty();
    assert_eq!(
        world.run(&["--version"]).ok(),
        concat!("flyball ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let help = world.run(&["--help"]).ok();
    for word in ["init", "config", "completions", "man", "--color", "-C <DIR>"] {
        assert!(help.contains(word), "{word} in {help}");
    }
    assert!(world.run(&["init", "--help"]).ok().contains("--force"));
}

#[test]
fn every_command_in_the_help_works() {
    let help = World::empty().run(&["-h"]).ok();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.contains(&"init"), "{help}");
    for command in commands {
        assert!(World::empty().run(&[command, "--help"]).ok().contains("Usage:"), "{command}");
    }
}

#[test]
fn completions_are_there_for_every_shell() {
    let world = World::empty();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(world.run(&["completions", shell]).ok().contains("flyball"), "{shell}");
    }
}

#[test]
fn manual_pages_are_there_for_the_program_and_its_commands() {
    let world = World::empty();
    assert!(world.run(&["man"]).ok().contains(".TH flyball 1"));
    assert!(world.run(&["man", "config"]).ok().contains("flyball-config"));
    let error = world.run(&["man", "confg"]).failed(64);
    assert_eq!(error, "error: there is no command `confg`\n  hint: did you mean `config`?\n");
}

#[test]
fn errors_are_coloured_only_when_asked_for() {
    let world = World::empty().file("flyball.toml", "[limit]");
    assert!(world.run(&["config"]).failed(78).starts_with("error: "));
    let error = world.run(&["--color", "always", "config"]).failed(78);
    assert!(error.starts_with("\u{1b}[31merror:"), "{error}");
}

#[test]
fn a_folder_that_is_not_there_cannot_be_worked_in() {
    let error = World::empty().run(&["-C", "nowhere", "config"]).failed(66);
    assert!(error.starts_with("error: `nowhere` cannot be worked in\n  caused by: "), "{error}");
}

#[test]
fn every_command_is_in_the_documentation() {
    let text = include_str!("../../../../docs/commands.md");
    let help = World::empty().run(&["-h"]).ok();
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 3, "{help}");
    for command in commands {
        assert!(text.contains(&format!("`flyball {command}")), "{command}");
    }
}
