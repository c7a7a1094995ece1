//! Hooks and the run they belong to: what a run does with hooks that never report, and what the stop
//! of a run's session is judged by.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

use crate::hook::{Place, begin};

/// Puts a program in front of those on PATH.
fn program(place: &Place, name: &str, text: &str) {
    let path = place.folder.path().join("bin").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(place: &Place, arguments: &[&str]) -> Output {
    let mut command = place.command(arguments);
    let bin = place.folder.path().join("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("FLYBALL", env!("CARGO_BIN_EXE_flyball"));
    begin(command, "").wait_with_output().unwrap()
}

fn told(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}\n{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Speaks like Claude Code, calls a tool, and never looks at the hooks it was given.
const DEAF: &str = r#"#!/bin/sh
cat >/dev/null
echo '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
for n in 1 2; do
  echo '{"type":"assistant","message":{"id":"m'$n'","content":[{"type":"tool_use","id":"t'$n'","name":"Bash","input":{"command":"ls '$n'"}}]}}'
  echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t'$n'","content":"ok"}]}}'
done
echo '{"type":"result","subtype":"success","is_error":false,"result":"bye","session_id":"s"}'
"#;

const CLAUDE: &str = "[agent]\nname = \"claude\"\n[limits]\niterations = 2\n\
                      [[gates.check]]\nname = \"tests\"\ncommand = \"test -f done\"\n";

const GATE: &str = "[[gates.check]]\nname = \"tests\"\ncommand = \"test -f done\"\n";

#[test]
fn hooks_that_never_reported_are_told_of_once() {
    let says = "never asked, though it made 2 calls";
    let place = Place::new(CLAUDE);
    program(&place, "claude", DEAF);
    let text = told(&run(&place, &["run"]));
    assert_eq!(text.matches(says).count(), 1, "{text}");
    let place = Place::new(CLAUDE);
    program(&place, "claude", DEAF);
    let json = told(&run(&place, &["run", "--format", "json"]));
    let notes: Vec<&str> = json.lines().filter(|line| line.contains(says)).collect();
    assert!(matches!(notes.as_slice(), [one] if one.contains("\"type\":\"note\"")), "{json}");
    for arguments in [&["log"][..], &["log", "--json"], &["log", "--iteration", "1"]] {
        let log = told(&run(&place, arguments));
        assert_eq!(log.matches("never asked").count(), 1, "{arguments:?} {log}");
    }
}

/// As Claude Code with hooks: asks about a call, then about its stops until one is allowed.
const HEARING: &str = r#"#!/bin/sh
cat >/dev/null
hook() { echo "$2" | "$FLYBALL" hook claude "$1" --run; }
echo '{"type":"system","subtype":"init","session_id":"s","model":"m"}'
hook PreToolUse '{"session_id":"s","tool_use_id":"t1","tool_name":"Bash","tool_input":{}}' >/dev/null
echo '{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}'
@WORK@
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}'
n=0
while [ $n -lt 9 ]; do
  n=$((n + 1))
  answer=$(hook Stop '{"session_id":"s","last_assistant_message":"@SAID@"}')
  printf '%s\n' "$answer" >>"$ANSWERS"
  [ -z "$answer" ] && break
done
echo '{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"@SAID@"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"@SAID@","session_id":"s"}'
"#;

/// The answers to the stops of a session that does this work and says that.
fn stops(place: &Place, work: &str, said: &str) -> (Vec<String>, String) {
    let answers = place.folder.path().join("answers");
    let agent = HEARING
        .replace("@WORK@", work)
        .replace("@SAID@", said)
        .replace("$ANSWERS", &answers.display().to_string());
    program(place, "claude", &agent);
    let output = told(&run(place, &["run", "--once", "--format", "json"]));
    let answers = fs::read_to_string(answers).unwrap();
    (answers.lines().map(str::to_owned).collect(), output)
}

fn gate(command: &str) -> String {
    format!(
        "[agent]\nname = \"claude\"\n[[gates.check]]\nname = \"tests\"\ncommand = \"{command}\"\n"
    )
}

#[test]
fn a_weakened_check_is_told_when_the_agent_wants_to_stop() {
    let place = Place::new(&gate("sh check.sh"));
    fs::write(place.root().join("check.sh"), "test -f done\n").unwrap();
    let (answers, output) = stops(&place, "echo true > check.sh", "done");
    assert!(answers[0].contains("`check.sh`, which gate `tests` runs, was changed"), "{answers:?}");
    // It is told once; then a human decides.
    assert!(!answers.last().unwrap().contains("check.sh"), "{answers:?}\n{output}");
}

#[test]
fn a_premature_stop_is_refused_three_times_then_let_go_and_not_done() {
    let place = Place::new(&gate("echo boom; exit 1"));
    let (answers, output) = stops(&place, ":", "<promise>COMPLETE</promise>");
    assert_eq!(answers.len(), 4, "{answers:?}\n{output}");
    let refused = |answer: &String| answer.contains("Completion Blocked: tests failed");
    assert!(answers.iter().take(3).all(refused), "{answers:?}");
    assert_eq!(answers[3], "");
    assert_eq!(output.matches("\"verdict\":\"refuse\"").count(), 3, "{output}");
    assert!(!output.contains("\"outcome\":\"complete\""), "{output}");
}

#[test]
fn a_person_is_shown_whether_the_agent_asks_before_it_acts() {
    for (permission, words, flag) in [
        ("skip", "claude · permissions skipped", true),
        ("ask", "claude · permissions of its own", false),
    ] {
        let place = Place::new(&format!(
            "[agent]\nname = \"claude\"\npermission = \"{permission}\"\nargs = [\"--a b\"]\n{GATE}"
        ));
        program(&place, "claude", DEAF);
        let text = told(&run(&place, &["run", "--once"]));
        assert!(text.contains(words), "{text}");
        let plan = told(&run(&place, &["run", "--dry-run"]));
        assert!(plan.contains(words), "{plan}");
        let command = plan.lines().find(|line| line.starts_with("command: claude -p ")).unwrap();
        assert_eq!(command.contains("--dangerously-skip-permissions"), flag, "{command}");
        assert!(command.contains("'--a b'"), "{command}");
    }
}

#[test]
fn what_hooks_judged_is_told_as_it_happens_and_in_the_log() {
    let place = Place::new(&gate("echo boom; exit 1"));
    let call = "call='\"session_id\":\"s\",\"tool_use_id\":\"t'$n'\",\"tool_name\":\"Bash\",\
                \"tool_input\":{}'; hook PreToolUse \"{$call}\" >/dev/null; \
                hook PostToolUse \"{$call,\\\"tool_response\\\":\\\"the same\\\"}\" >/dev/null";
    let calls = format!("for n in 2 3 4 5 6 7; do {call}; done");
    let answers = place.folder.path().join("answers").display().to_string();
    let agent = HEARING.replace("@WORK@", &calls).replace("@SAID@", "done");
    program(&place, "claude", &agent.replace("$ANSWERS", &answers));
    let text = told(&run(&place, &["run", "--once"]));
    assert!(text.contains("CALL  #1   Bash\n"), "{text}");
    assert!(text.contains("REFUSE  #1   repetition: "), "{text}");
    assert_eq!(text.matches("the agent may not stop yet: tests failed").count(), 3, "{text}");
    let log = told(&run(&place, &["log"]));
    assert!(log.contains("the agent may not stop yet: tests failed"), "{log}");
    assert!(log.contains("tool 'Bash' called 6 times"), "{log}");
}

#[test]
fn hooks_installed_for_good_keep_quiet_where_a_run_brings_its_own() {
    let place = Place::new(&gate("echo boom; exit 1"));
    let installed = "echo '{\"session_id\":\"s\",\"last_assistant_message\":\"done\"}' | \
                     \"$FLYBALL\" hook claude Stop >>\"$ANSWERS\"";
    let (answers, output) = stops(&place, installed, "<promise>COMPLETE</promise>");
    assert_eq!(answers.len(), 4, "the first would be of the installed one: {answers:?}\n{output}");
    assert_eq!(output.matches("\"verdict\":\"refuse\"").count(), 3, "{output}");
    // A home-made agent is given no hooks: those that are there count.
    let agent = HEARING.replace(" --run", "").replace("@WORK@", ":").replace("@SAID@", "done");
    let answers = place.folder.path().join("own");
    program(&place, "mine", &agent.replace("$ANSWERS", &answers.display().to_string()));
    told(&run(&place, &["run", "--once", "--", "mine"]));
    let answers = fs::read_to_string(answers).unwrap();
    assert!(answers.contains("Completion Blocked"), "{answers}");
}

#[test]
fn uncommitted_work_and_an_illegal_task_list_refuse_a_stop_too() {
    let place = Place::new(&gate("true"));
    let (answers, output) = stops(&place, "echo new >left.txt", "done");
    assert!(answers[0].contains("1 path not committed: left.txt"), "{answers:?}\n{output}");
    let tasks = r#"{"project":"p","description":"d","verifyCommands":[],"userStories":[
        {"id":"S1","title":"t","description":"","acceptanceCriteria":[],"priority":1,"dependsOn":[],
         "passes":false,"reviewStatus":null,"reviewCount":0,"reviewFeedback":null,"notes":""}]}"#;
    let place = Place::new(&gate("true"));
    let folder = place.root().join(".flyball");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tasks.json"), tasks).unwrap();
    fs::write(folder.join("prompt.md"), "work\n").unwrap();
    commit(&place.root());
    let work = "sed -i 's/\"passes\":false/\"passes\":true/' .flyball/tasks.json; \
                git commit -qam cheat";
    let (answers, output) = stops(&place, work, "done");
    assert!(answers[0].contains("S1"), "{answers:?}\n{output}");
    assert!(answers[0].contains("Completion Blocked"), "{answers:?}");
}

#[test]
fn an_agent_that_says_it_cannot_go_on_may_stop() {
    for said in ["<promise>BLOCKED:no key</promise>", "<promise>DECIDE:a or b?</promise>"] {
        let place = Place::new(&gate("exit 1"));
        let (answers, output) = stops(&place, ":", said);
        assert_eq!(answers, [""], "{output}");
    }
}

fn commit(root: &Path) {
    for arguments in [&["add", "-A"][..], &["commit", "-qm", "more"]] {
        let done = std::process::Command::new("git").args(arguments).current_dir(root).status();
        assert!(done.unwrap().success());
    }
}

/// As Codex with hooks: hands a result of a hundred megabytes to its hook.
const LARGE: &str = r#"#!/bin/sh
cat >/dev/null
{
  printf '{"session_id":"s","tool_use_id":"1","tool_name":"t","tool_response":"'
  head -c 100000000 /dev/zero | tr '\0' x
  printf '"}'
} | "$FLYBALL" hook codex PostToolUse --run >$ANSWER
"#;

/// In a run, where hooks take as long as the config says: a busy machine changes nothing.
#[test]
fn a_result_of_a_hundred_megabytes_is_taken() {
    let place = Place::new(&format!(
        "[agent]\nname = \"codex\"\n[calls]\nlarge_response = 1000\n[hooks]\ntimeout = \"10m\"\n{GATE}"
    ));
    let answer = place.folder.path().join("answer");
    program(&place, "codex", &LARGE.replace("$ANSWER", &answer.display().to_string()));
    let output = told(&run(&place, &["run", "--once"]));
    let answer = fs::read_to_string(answer).unwrap();
    assert!(answer.contains("100000000 characters"), "{answer:.300}\n{output}");
    assert!(answer.len() < 3000);
}
