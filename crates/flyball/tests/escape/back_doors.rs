//! What flyball itself runs may have been written by the agent: git's filters and drivers, gates,
//! scripts behind them. All of it runs behind the same walls.

use std::fmt::Write as _;
use std::fs;

use crate::house::{House, User};

/// A command that writes into the state folder, and tells that it ran at all.
fn plant(house: &House, name: &str) -> String {
    let (state, ran) = (house.text("deep/state"), house.text("work"));
    format!("touch {ran}/{name}-ran; touch {state}/{name}-planted 2>/dev/null")
}

/// Whether it ran, and whether it could write.
fn found(house: &House, name: &str) -> (bool, bool) {
    let ran = house.path("work").join(format!("{name}-ran")).exists();
    (ran, house.state().join(format!("{name}-planted")).exists())
}

/// Plays a planted command without and with the shield; it must run in both.
#[track_caller]
fn refused(name: &str, set: impl Fn(&House, &str) -> Vec<String>) {
    for user in User::all() {
        for shield in ["off", "auto"] {
            let house = House::new(user).env("FLYBALL_SANDBOX__SHIELD", shield);
            if shield == "auto" && house.falls_back() {
                continue;
            }
            let agent = set(&house, &plant(&house, name));
            house.commit();
            let agent: Vec<&str> = agent.iter().map(String::as_str).collect();
            let played = house.play(&agent);
            let (ran, planted) = found(&house, name);
            assert!(ran, "{name}, {user:?}, {shield}: it never ran: {}", played.said);
            assert_eq!(planted, shield == "off", "{name}, {user:?}, {shield}: {}", played.said);
        }
    }
}

fn shell(script: String) -> Vec<String> {
    vec!["sh".to_owned(), "-c".to_owned(), script]
}

#[test]
fn a_test_that_writes_the_state_folder_as_a_gate() {
    refused("gate", |house, planted| {
        house.file("repo/check.sh", "true\n");
        let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"sh check.sh\"\n";
        house.file("repo/flyball.toml", gate);
        shell(format!("printf '%s\\n' \"{planted}\" 'true' > check.sh; git commit -qam w"))
    });
}

#[test]
fn a_script_of_the_project_that_detection_found() {
    refused("detected", |house, planted| {
        house.file("repo/Makefile", "test:\n\t@sh check.sh\n");
        house.file("repo/check.sh", "true\n");
        shell(format!("printf '%s\\n' \"{planted}\" 'true' > check.sh; git commit -qam w"))
    });
}

#[test]
fn a_clean_filter_in_the_configuration_of_the_repository() {
    refused("filter", |house, planted| {
        house.file("clean.sh", &format!("{planted}\ncat\n"));
        let clean = house.text("clean.sh");
        shell(format!(
            "git config filter.x.clean 'sh {clean}'; echo '* filter=x' > .gitattributes; echo 1 > new"
        ))
    });
}

/// Settings by which git runs a program, and the attribute some of them need.
const PROGRAMS_OF_GIT: [(&str, &str); 12] = [
    ("diff.x.textconv", "* diff=x"),
    ("diff.x.command", "* diff=x"),
    ("diff.external", ""),
    ("merge.x.driver", "* merge=x"),
    ("core.sshCommand", ""),
    ("credential.helper", ""),
    ("core.askPass", ""),
    ("core.editor", ""),
    ("gpg.program", ""),
    ("alias.status", ""),
    ("alias.diff-tree", ""),
    ("uploadpack.packObjectsHook", ""),
];

#[test]
fn drivers_helpers_and_aliases_of_git_are_not_run_or_run_behind_the_walls() {
    for user in User::all() {
        let house = House::new(user);
        if house.falls_back() {
            return;
        }
        let mut script = String::from("set -e\n");
        for (index, (key, attribute)) in PROGRAMS_OF_GIT.iter().enumerate() {
            let planted = plant(&house, &format!("p{index}"));
            house.file(&format!("p{index}.sh"), &format!("{planted}\ncat\n"));
            let (sign, program) = (
                if key.starts_with("alias") { "!" } else { "" },
                house.text(&format!("p{index}.sh")),
            );
            writeln!(script, "git config {key} '{sign}sh {program}'").unwrap();
            if !attribute.is_empty() {
                writeln!(script, "echo '{attribute}' >> .gitattributes").unwrap();
            }
        }
        // Settings in a file of its own are no other thing.
        let included = plant(&house, "included");
        house.file("included.sh", &format!("{included}\ncat\n"));
        house.file(
            "more.config",
            &format!("[filter \"y\"]\n\tclean = sh {}\n", house.text("included.sh")),
        );
        writeln!(script, "git config include.path {}", house.text("more.config")).unwrap();
        script.push_str("echo '*.y filter=y' >> .gitattributes; echo 1 > new.y; echo 2 >> a.txt\n");
        house.commit();
        let played = house.play(&["sh", "-c", &script]);
        house.play(&["sh", "-c", "echo 3 >> a.txt"]);
        for (index, (setting, ..)) in PROGRAMS_OF_GIT.iter().enumerate() {
            let (_, planted) = found(&house, &format!("p{index}"));
            assert!(!planted, "{user:?}: {setting}: {}", played.said);
        }
        assert_eq!(found(&house, "included"), (true, false), "{user:?}: {}", played.said);
        assert!(played.said.contains("your own git would run it"), "{}", played.said);
    }
}

#[test]
fn hooks_and_watchers_of_git_are_not_even_run() {
    let house = House::new(User::Own);
    let planted = plant(&house, "hook");
    let script = format!(
        "for h in post-index-change reference-transaction pre-commit post-checkout; do \
         printf '#!/bin/sh\\n{planted}\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done; \
         git config core.fsmonitor .git/hooks/pre-commit; echo x > new"
    );
    house.play(&["sh", "-c", &script]);
    let after = fs::remove_file(house.path("work/hook-ran"));
    // What the agent's own git ran is the agent's; flyball's own runs none of it.
    let next = house.play(&["true"]);
    assert!(!house.path("work/hook-ran").exists(), "{after:?} {}", next.said);
    assert!(!house.state().join("hook-planted").exists());
}

#[test]
fn a_command_in_a_projects_file_is_the_one_read_at_the_start() {
    let house = House::new(User::Own);
    house.file("repo/flyball.toml", "[notify]\ncommand = \"true\"\n");
    house.commit();
    let planted = plant(&house, "notify");
    let script = format!("printf '[notify]\\ncommand = \"{planted}\"\\n' > flyball.toml");
    let played = house.play(&["sh", "-c", &script]);
    assert_eq!(found(&house, "notify"), (false, false), "{}", played.said);
}

#[test]
fn programs_planted_in_the_worktree_are_not_found() {
    let house = House::new(User::Own);
    let planted = plant(&house, "path");
    let script = format!(
        "for p in git sh python3; do printf '#!/bin/sh\\n{planted}\\n' > $p; chmod +x $p; done"
    );
    let house = house.env("EDITOR", "./git").env("PAGER", "./git");
    let played = house.play(&["sh", "-c", &script]);
    assert_eq!(found(&house, "path"), (false, false), "{}", played.said);
}

#[test]
fn what_the_agent_leaves_for_your_own_git_is_told() {
    let house = House::new(User::Own);
    let script =
        "git config filter.x.clean evil; git config user.name b; touch .git/hooks/pre-push";
    let said = house.play(&["sh", "-c", script]).said;
    assert!(
        said.contains("the agent set filter.x.clean in .git/config; your own git would run it")
    );
    assert!(said.contains("the agent wrote .git/hooks/pre-push"), "{said}");
}

#[test]
fn a_script_that_tells_people_is_held_too() {
    for shield in ["off", "auto"] {
        let house = House::new(User::Own).env("FLYBALL_SANDBOX__SHIELD", shield);
        if shield == "auto" && house.falls_back() {
            continue;
        }
        house.file("repo/flyball.toml", "[notify]\ncommand = \"sh tell.sh\"\n");
        house.file("repo/tell.sh", "true\n");
        house.commit();
        let planted = plant(&house, "tell");
        let script = format!("printf '%s\\n' \"{planted}\" > tell.sh");
        let played = house.play(&["sh", "-c", &script]);
        assert_eq!(found(&house, "tell"), (true, shield == "off"), "{}", played.said);
    }
}
