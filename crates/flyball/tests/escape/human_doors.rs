//! Inside of a run only hooks, tools, gates and looking work: by descent, not by variables.

use crate::house::{House, User};

/// Every command, with arguments that are enough for it to begin, and whether it works inside.
const COMMANDS: &[(&str, bool)] = &[
    ("init", false),
    ("run --dry-run --trust-claims -- true", false),
    ("run --worktree=x mend", false),
    ("demo", false),
    ("plan mend", false),
    ("session mend", false),
    ("attach", false),
    #[cfg(feature = "otel")]
    ("export otel", false),
    ("serve --port 0", false),
    ("watch", false),
    ("tell go on", false),
    ("limits iterations=9", false),
    ("land x", false),
    ("drop x", false),
    ("answer yes", false),
    ("unblock", false),
    ("stop", false),
    ("stop --after-iteration", false),
    ("tasks retry a", false),
    ("tasks add mend", false),
    ("tasks edit a", false),
    ("tasks drop a", false),
    ("tasks blockers", false),
    ("accept tamper", false),
    ("restore tamper", false),
    ("rewind latest 1", false),
    ("archive", false),
    ("prune", false),
    ("hooks install claude", false),
    ("notify test", false),
    ("status", true),
    ("status --json", true),
    ("log", true),
    ("report", true),
    ("stats", true),
    ("replay", true),
    ("inspect", true),
    ("tasks", true),
    ("context", true),
    ("config", true),
    ("doctor", true),
    ("gate", true),
    ("completions bash", true),
    ("man", true),
    ("hook flyball PreToolUse", true),
    ("mcp", true),
    ("mcp-guard -- true", true),
];

/// Runs every command in every way an agent could hide where it comes from.
const SCRIPT: &str = r#"
P=$FLYBALL_TEST_PROGRAM
inner() { "$@" </dev/null >out 2>&1; echo "$? $(tr '\n' ' ' <out | head -c 300)" > answer; }
while read -r line; do
    for way in plain bare adopted; do
        rm -f answer
        case $way in
            plain) $P $line </dev/null >out 2>&1; echo "$? $(tr '\n' ' ' <out | head -c 300)" > answer ;;
            bare) env -i PATH="$PATH" HOME="$HOME" FLYBALL_STATE="$FLYBALL_STATE" $P $line \
                </dev/null >out 2>&1; echo "$? $(tr '\n' ' ' <out | head -c 300)" > answer ;;
            adopted) env -i PATH="$PATH" HOME="$HOME" FLYBALL_STATE="$FLYBALL_STATE" setsid sh -c \
                "($P $line </dev/null >out 2>&1; echo \"\$? \$(tr '\n' ' ' <out | head -c 300)\" > answer) &"
                while [ ! -s answer ]; do sleep 0.02; done ;;
        esac
        echo "DOOR $way|$line|$(cat answer)"
    done
done < ../commands
"#;

#[test]
fn only_hooks_tools_gates_and_looking_work_inside_of_a_run() {
    for (user, shield) in [(User::Own, "auto"), (User::Own, "off")] {
        let house = House::new(user).env("FLYBALL_SANDBOX__SHIELD", shield);
        let lines: Vec<&str> = COMMANDS.iter().map(|(line, _)| *line).collect();
        house.file("commands", &format!("{}\n", lines.join("\n")));
        let played = house.play(&["sh", "-c", SCRIPT]);
        let told: Vec<&str> =
            played.log.lines().filter_map(|line| line.strip_prefix("DOOR ")).collect();
        assert_eq!(told.len(), COMMANDS.len() * 3, "{}", played.log);
        for line in told {
            let mut parts = line.splitn(3, '|');
            let (way, command, answer) =
                (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
            let (_, works) = COMMANDS.iter().find(|(known, _)| *known == command).unwrap();
            let refused = answer.contains("is for humans, and this is the agent of run");
            assert_eq!(refused, !works, "{shield} {way}: flyball {command}: {answer}");
            assert!(works | answer.starts_with("64 "), "{command}: {answer}");
        }
    }
}

#[test]
fn the_table_names_every_command() {
    let house = House::new(User::Own);
    let help = house.flyball(&["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.split("\n\n").next().unwrap();
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = commands.lines().filter(is_name).filter_map(|line| line.split_whitespace().next());
    for name in names.chain(["hook"]) {
        let is_known = COMMANDS.iter().any(|(line, _)| line.split(' ').next() == Some(name));
        assert!(is_known, "`flyball {name}`: may what a run has started use it?");
    }
}

#[test]
fn what_git_starts_for_flyball_is_no_human_either() {
    for shield in ["auto", "off"] {
        let house = House::new(User::Own).env("FLYBALL_SANDBOX__SHIELD", shield);
        house.file("repo/.gitattributes", "new filter=x\n");
        house.commit();
        let filter =
            "env -u FLYBALL_RUN $FLYBALL_TEST_PROGRAM unblock >> $FLYBALL_TEST_WORK/said 2>&1; cat";
        let agent = format!("git config filter.x.clean '{filter}'; echo x > new");
        let played = house.play(&["sh", "-c", &agent]);
        assert_eq!(played.code, Some(1), "{shield}: {}", played.said);
        let said = std::fs::read_to_string(house.path("work/said")).unwrap_or_default();
        assert!(!said.is_empty(), "{shield}: the filter never ran: {}", played.said);
        for line in said.lines().filter(|line| line.starts_with("error")) {
            assert!(line.contains("`flyball unblock` is for humans"), "{shield}: {said}");
        }
    }
}
