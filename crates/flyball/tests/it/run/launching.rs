//! How the agent is started: environment, prompt, folder, wrapper.

use rustix::process::Signal;

use crate::scenario::Scenario;

#[test]
fn the_agent_knows_where_it_is() {
    let script = "env | grep ^FLYBALL_ | sort > $OUT/env-$n; pwd -P > $OUT/pwd; pass a; pass b";
    let scenario = Scenario::new().committed().agent(script);
    scenario.run().ended(0);
    let env = scenario.told("env-1");
    let run = scenario.last_run().run;
    let dir = scenario.root().canonicalize().unwrap();
    for line in [
        format!("FLYBALL_RUN={run}"),
        "FLYBALL_ITERATION=1".to_owned(),
        "FLYBALL_MODE=implement".to_owned(),
        "FLYBALL_TASK=a".to_owned(),
        format!("FLYBALL_DIR={}", dir.join(".flyball").display()),
    ] {
        assert!(env.lines().any(|have| have == line), "{line}: {env}");
    }
    assert_eq!(scenario.told("pwd").trim(), dir.to_str().unwrap());
}

#[test]
fn a_run_started_in_a_subfolder_works_at_the_root() {
    let scenario = Scenario::new()
        .file("deep/er/x", "x")
        .committed()
        .agent("pwd -P > $OUT/pwd; pass a; pass b");
    let script = scenario.outside("agent.sh");
    let ran = scenario.flyball(&["-C", "deep/er", "run", "--", "sh", script.to_str().unwrap()]);
    ran.ended(0);
    let root = scenario.root().canonicalize().unwrap();
    assert_eq!(scenario.told("pwd").trim(), root.to_str().unwrap());
}

#[test]
fn settings_can_give_the_agent_its_command_and_environment() {
    let toml = "[agent]\ncommand = \"cat > $OUT/prompt; echo $TONE > $OUT/tone\"\nenv = { TONE = \"calm\" }\n";
    let scenario = Scenario::new().config(toml).committed().command(&[]);
    let scenario = scenario.flags(&["--once"]);
    scenario.run().ended(1);
    assert_eq!(scenario.told("tone"), "calm\n");
    assert!(scenario.told("prompt").contains("a: do a"));
}

#[test]
fn a_prompt_is_given_by_input_argument_or_file() {
    let prompt = "Do the work.\n";
    for (how, read) in
        [("stdin", "cat"), ("argument", "printf '%s' \"$1\""), ("file", "cat \"$1\"")]
    {
        let scenario = Scenario::new()
            .file(".flyball/prompt.md", prompt)
            .committed()
            .env("FLYBALL_AGENT__PROMPT", how)
            .agent(&format!("{read} > $OUT/prompt; pass a; pass b"));
        scenario.run().ended(0);
        let told = scenario.told("prompt");
        assert!(told.starts_with(prompt), "{how}: {told}");
        assert!(told.contains("Review is off"), "{how}: {told}");
    }
}

#[test]
fn the_variables_of_the_prompt_are_filled_in() {
    let template = "{{iteration}}/{{max_iterations}} {{mode}} [{{task}}] {{RALPH_ITERATION}} {{unknown}}\n{{briefing}}end\n";
    let scenario = Scenario::new()
        .file(".flyball/prompt.md", template)
        .committed()
        .flags(&["--max-iterations", "7"])
        .agent("cat > $OUT/prompt-$n; pass a; [ $n = 2 ] && pass b; true");
    scenario.run().ended(0);
    let first = scenario.told("prompt-1");
    assert!(first.starts_with("1/7 implement [a: do a] 1 {{unknown}}\n"), "{first}");
    assert!(first.ends_with("end\n"), "{first}");
    assert!(scenario.told("prompt-2").starts_with("2/7 implement [b: do b] 2 "));
}

#[test]
fn without_a_prompt_of_ones_own_there_is_a_good_one() {
    let scenario = Scenario::new().committed().agent("cat > $OUT/prompt; pass a; pass b");
    scenario.run().ended(0);
    let prompt = scenario.told("prompt");
    for words in ["Iteration 1 of 15", "mode `implement`", "a: do a", ".flyball/tasks.json"] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    assert!(!prompt.contains("{{"), "{prompt}");
}

#[test]
fn a_wrapper_stands_in_front_and_its_inside_is_stopped_by_its_own_command() {
    // The "container": the agent in a session of its own that the wrapper only waits for.
    let wrapper = "#!/bin/sh\necho wrapped > $OUT/wrapped\nexec \"$@\"\n";
    let scenario = Scenario::new().committed();
    let path = scenario.outside("wrapper.sh");
    std::fs::write(&path, wrapper).unwrap();
    let toml = format!(
        "[agent]\nwrapper = [\"sh\", \"{}\"]\nstop_command = \"echo stopped >> $OUT/stopped\"\n[limits]\nstop_grace = \"200ms\"\n",
        path.display()
    );
    let scenario =
        scenario.config(&toml).agent("trap '' INT; echo up > $OUT/up; while :; do sleep 0.1; done");
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    running.signal(Signal::TERM);
    running.wait().ended(143);
    assert_eq!(scenario.told("wrapped"), "wrapped\n");
    assert!(scenario.told("stopped").starts_with("stopped\n"));
}

#[test]
fn a_dry_run_starts_and_writes_nothing() {
    let gate = "[[gates.check]]\nname = \"tests\"\ncommand = \"touch $OUT/gate\"\n";
    let scenario = Scenario::new().config(gate).committed().agent("touch $OUT/started");
    let before = scenario.git(&["status", "--porcelain", "--ignored"]);
    let ran = scenario.run_with(&["--dry-run"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for words in ["gates:", "tests: touch", "next: implement a", "prompt:", "15 iterations"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!scenario.outside("started").exists() && !scenario.outside("gate").exists());
    assert_eq!(scenario.git(&["status", "--porcelain", "--ignored"]), before);
    assert_eq!(scenario.git(&["for-each-ref", "refs/flyball"]), "");
}

#[test]
fn a_prompt_of_another_loop_is_given_task_mode_and_rules() {
    let scenario = Scenario::new()
        .file(".flyball/prompt.md", "Do the work.\n")
        .committed()
        .agent("cat > $OUT/prompt; pass a; pass b");
    scenario.run().ended(0);
    let told = scenario.told("prompt");
    for words in
        ["Do the work.\n\n## The rules", "mode `implement`, task `a: do a`", ".flyball/tasks.json"]
    {
        assert!(told.contains(words), "{words}: {told}");
    }
    // One that places them is left as it is.
    let own = "Work on {{task}}.\n";
    let scenario = Scenario::new().file(".flyball/prompt.md", own).committed();
    let scenario = scenario.agent("cat > $OUT/prompt; pass a; pass b");
    scenario.run().ended(0);
    assert!(scenario.told("prompt").starts_with("Work on a: do a.\n"));
    assert!(!scenario.told("prompt").contains("The rules of this loop"));
}

#[test]
fn settings_a_user_names_are_read_from_where_the_client_runs() {
    // Stands for Claude Code: keeps the settings it was given, and leaves.
    let program = "#!/bin/sh\nwhile [ $# -gt 0 ]; do\n  [ \"$1\" = --settings ] && echo \"$2\" >> $OUT/given && cat \"$2\" > $OUT/settings\n  shift\ndone\n";
    let scenario = Scenario::new()
        .file("mine/settings.json", "{\"model\":\"of the user\"}\n")
        .file("deep/er/x", "x");
    let path = scenario.outside("claude.sh");
    std::fs::write(&path, program).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    let toml = format!(
        "[agent]\nname = \"claude\"\nprogram = \"{}\"\nargs = [\"--settings\", \"mine/settings.json\"]\n",
        path.display()
    );
    let scenario = scenario.config(&toml).committed();
    scenario.flyball(&["-C", "deep/er", "run", "--once"]).ended(1);
    let settings = scenario.told("settings");
    assert!(settings.contains("of the user") && settings.contains("hook claude"), "{settings}");
    // One file: of two the client would heed only the last.
    assert_eq!(scenario.told("given").lines().count(), 1, "{}", scenario.told("given"));
}
