//! `flyball config` over real files and a real environment.

use crate::world::World;

#[test]
fn origins_name_files_variables_and_profiles() {
    let world = World::repository()
        .user_config("[limits]\ntokens = 7\n")
        .file("flyball.toml", "[limits]\nstuck = 5\n");
    let environment = [("FLYBALL_MAX_REPETITIONS", "9"), ("FLYBALL_TASK", "US-1")];
    let text = world.run_with(&environment, &["config", "--origin", "--profile", "overnight"]).ok();
    let origin = |start: &str| {
        let line = text.lines().find(|line| line.starts_with(start)).unwrap();
        line.split_once("# ").unwrap().1.to_owned()
    };
    assert_eq!(origin("stuck = 5"), "flyball.toml:2");
    assert!(origin("tokens = 7").ends_with("/.config/flyball/config.toml:2"));
    assert_eq!(origin("refuse_after = 9"), "FLYBALL_MAX_REPETITIONS");
    assert_eq!(origin("on_stuck = \"next\""), "profile overnight (default)");
    assert_eq!(origin("cap = 5"), "default");
}

#[test]
fn the_user_s_file_is_where_the_desktop_standard_says() {
    let world = World::repository()
        .user_config("[limits]\nstuck = 4\n")
        .file("xdg/flyball/config.toml", "[limits]\nstuck = 8\n");
    assert!(world.run(&["config"]).ok().contains("stuck = 4\n"));
    let xdg = world.root().join("xdg");
    let environment = [("XDG_CONFIG_HOME", xdg.to_str().unwrap())];
    assert!(world.run_with(&environment, &["config"]).ok().contains("stuck = 8\n"));
}

#[test]
fn what_config_prints_is_a_config() {
    let world = World::repository();
    let text = world.run(&["config"]).ok();
    let again = World::repository().file("flyball.toml", &text);
    assert_eq!(again.run(&["config"]).ok(), text);
    let json: serde_json::Value =
        serde_json::from_str(&world.run(&["config", "--json"]).ok()).unwrap();
    assert_eq!(json["limits"]["iterations"], 15);
    let json: serde_json::Value =
        serde_json::from_str(&world.run(&["config", "--json", "--origin"]).ok()).unwrap();
    assert_eq!(json["limits.iterations"]["origin"], "default");
}

#[test]
fn the_root_s_file_holds_in_every_folder_below_and_another_file_can_be_named() {
    let world = World::repository()
        .file("flyball.toml", "[limits]\nstuck = 5\n")
        .file("a/b/other.toml", "[limits]\nstuck = 6\n");
    assert!(world.run(&["-C", "a/b", "config"]).ok().contains("stuck = 5\n"));
    let other = world.run(&["-C", "a/b", "--config", "other.toml", "config"]).ok();
    assert!(other.contains("stuck = 6\n"));
    world.run(&["--config", "none.toml", "config"]).failed(66);
}

#[test]
fn a_mistake_is_shown_where_it_stands() {
    let world = World::repository().file("flyball.toml", "# mine\n[limits]\nstuk = 5\n");
    assert_eq!(
        world.run(&["config"]).failed(78),
        "error: flyball.toml:3:1: unknown setting `limits.stuk`\n  3 | stuk = 5\n    | ^^^^\n  \
         hint: did you mean `limits.stuck`?\n"
    );
    let error = World::empty().run_with(&[("FLYBALL_LIMITS__STUCK", "x")], &["config"]).failed(78);
    assert_eq!(
        error,
        "error: the environment variable `FLYBALL_LIMITS__STUCK` has a wrong value\n  \
         caused by: `limits.stuck` must be a whole number from 0 to 4294967295, not `x`\n  \
         hint: correct it, or `unset FLYBALL_LIMITS__STUCK`\n"
    );
}
