//! `flyball init` in temporary repositories.

use std::process::Command;

use serde_json::{Value, json};

use crate::world::World;

fn rust() -> World {
    World::repository().program("cargo").program("claude").file("Cargo.toml", "[package]")
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn a_rust_repository_gets_everything_a_run_needs() {
    let world = rust();
    assert_eq!(
        world.run(&["init"]).ok(),
        "Project  Rust\n\
         Agent    claude\n         \
         asks nobody (permission = \"skip\"): --dangerously-skip-permissions IS_SANDBOX=1\n         \
         permission = \"ask\" in flyball.toml keeps its prompts\n\
         Gate     tests  cargo test  (Cargo.toml, 5m)\n\
         Gate     build  cargo build  (Cargo.toml, 5m)\n         \
         found but not runnable: cargo clippy --all-targets -- -D warnings (`cargo-clippy` is not on PATH)\n\n\
         Wrote    flyball.toml\n\
         Wrote    .flyball/prompt.md\n\
         Wrote    .flyball/tasks.json\n\
         Wrote    .flyball/prd.md\n\
         Wrote    .flyball/progress.txt\n\
         Wrote    .flyball/.gitignore\n\n\
         Next     write what you want into .flyball/prd.md and .flyball/tasks.json\n\
         Next     or have it drafted: flyball plan \"what you want\"\n\
         Next     git add flyball.toml .flyball && git commit -m 'Set up flyball'\n\
         Next     flyball run\n"
    );
    let config = world.run(&["config"]).ok();
    assert!(
        config.contains("[[gates.check]]\nname = \"tests\"\ncommand = \"cargo test\"\n"),
        "{config}"
    );
    let story = &parsed(&world.read(".flyball/tasks.json"))["userStories"][0];
    let fresh = [&story["passes"], &story["reviewStatus"], &story["reviewCount"]];
    assert_eq!(fresh, [&json!(false), &Value::Null, &json!(0)]);
    let ignored = world.read(".flyball/.gitignore");
    for name in ["logs/", "blocked.txt", "decide.txt", "active.json", "responses/"] {
        assert!(ignored.lines().any(|line| line == name), "{name}");
    }
}

/// A repository of Node's kind with a package manager that is a script.
fn node(scripts: &str) -> World {
    let npm = "#!/bin/sh\necho \"ran $*\"\ncase \"$*\" in *jest*) exit 1 ;; esac\n";
    World::repository()
        .script("npm", npm)
        .program("claude")
        .file("package.json", scripts)
        .file("package-lock.json", "{}")
}

#[test]
fn scripts_that_never_end_or_mend_files_are_written_down_as_checks() {
    let scripts = r#"{"scripts":{"test":"jest --watch","lint":"eslint --fix .","build":"nodemon ."},
        "devDependencies":{"jest":"1"}}"#;
    let world = node(scripts);
    let said = world.run(&["init"]).ok();
    for line in [
        "npm exec -c jest",
        "npm exec -c 'eslint .'",
        "found but not runnable: npm run build (it waits for changes and never ends)",
        "Warning  node_modules is not there, and gates may need it: npm ci",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    let doctor = world.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("node_modules is not there") && doctor.contains("-> npm ci"),
        "{doctor}"
    );
    // What someone writes down himself is his, and doctor says what is wrong with it.
    let own = "[[gates.check]]\nname = \"tests\"\ncommand = \"jest --watch\"\n";
    let doctor = world.script("jest", "").file("flyball.toml", own).run(&["doctor"]).stdout;
    assert!(doctor.contains("never ends") && doctor.contains("write `jest` instead"), "{doctor}");
}

#[test]
fn what_could_not_be_found_or_run_is_told_with_what_to_do() {
    let world = World::repository().program("claude").file("README.md", "");
    let said = world.run(&["init"]).ok();
    assert!(said.contains("no kind flyball knows\n         looked for Rust, Node, Deno"), "{said}");
    let php = r#"{"require-dev":{"phpunit/phpunit":"^10"}}"#;
    let world =
        World::repository().program("claude").file("composer.json", php).file("phpunit.xml", "");
    let said = world.run(&["init"]).ok();
    let line = "vendor/bin/phpunit (`vendor/bin/phpunit` is not there: composer install)";
    assert!(said.contains(&format!("found but not runnable: {line}")), "{said}");
    let found = &parsed(&world.run(&["init", "--force", "--json"]).ok())["notRunnable"][0];
    assert_eq!(found["type"], "composer install");
    let doctor = world.file("flyball.toml", "").run(&["doctor"]).stdout;
    assert!(doctor.contains("-> composer install"), "{doctor}");
}

#[test]
fn asked_to_check_it_says_which_gates_are_red_now() {
    let scripts = r#"{"scripts":{"test":"jest --watch","lint":"eslint ."}}"#;
    let world = node(scripts);
    let git = Command::new("git").args(["init", "-q"]).current_dir(world.root()).status();
    assert!(git.unwrap().success());
    let bin = world.folder.path().join("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let state = world.folder.path().join("state").display().to_string();
    let environment = [("PATH", path.as_str()), ("FLYBALL_STATE", state.as_str())];
    let said = world.run_with(&environment, &["init", "--check"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    for line in ["Now      [ ] tests: failed", "Now      [x] lint: passed", "begins with this red"]
    {
        assert!(said.stdout.contains(line), "{line} in {}", said.stdout);
    }
    let said = world.run_with(&environment, &["init", "--check", "--force", "--json"]);
    let checked = &parsed(&said.stdout)["checked"]["checks"];
    assert_eq!(
        (&checked[0]["status"], &checked[1]["status"]),
        (&json!("failed"), &json!("passed"))
    );
}

#[test]
fn the_prompt_never_has_a_promise_tag_on_a_line_of_its_own() {
    let world = rust();
    world.run(&["init", "--dir", "work/loop"]).ok();
    let prompt = world.read("work/loop/prompt.md");
    for word in ["{{task}}", "{{mode}}", "{{iteration}}", "{{max_iterations}}", "{{briefing}}"] {
        assert!(prompt.contains(word), "{word}");
    }
    assert!(prompt.contains("work/loop/decide.txt") && !prompt.contains("{{dir}}"));
    for line in prompt.lines().filter(|line| line.contains("<promise>")) {
        assert!(!line.trim().starts_with("<promise>"), "{line}");
    }
    assert!(world.run(&["config"]).ok().contains("dir = \"work/loop\""));
}

#[test]
fn nothing_is_overwritten_without_force_and_force_keeps_the_user_s_own_files() {
    let world = rust();
    world.run(&["init"]).ok();
    let world = world
        .file("flyball.toml", "# mine")
        .file(".flyball/prompt.md", "mine")
        .file(".flyball/tasks.json", "{}")
        .file(".flyball/progress.txt", "diary");
    assert_eq!(
        world.run(&["init"]).failed(64),
        "error: `flyball.toml` and `.flyball/prompt.md` already exist, and nothing was written\n  \
         hint: `flyball init --force` writes them anew; tasks, prd.md and progress.txt are kept\n"
    );
    assert_eq!(world.read("flyball.toml"), "# mine");
    let said = world.run(&["init", "--force"]).ok();
    assert!(said.contains("Replaced flyball.toml\nReplaced .flyball/prompt.md\n"), "{said}");
    assert!(world.read("flyball.toml").contains("[[gates.check]]"));
    assert_eq!(world.read(".flyball/tasks.json"), "{}");
    assert_eq!(world.read(".flyball/progress.txt"), "diary");
}

#[test]
fn a_second_init_changes_nothing() {
    let world = rust();
    world.run(&["init", "--dir", "loop"]).ok();
    let before = [world.read("flyball.toml"), world.read("loop/prompt.md")];
    for arguments in [&["init", "--force"][..], &["init"]] {
        let report = parsed(&world.run(&[arguments, &["--json"]].concat()).ok());
        assert_eq!(report["written"], json!([]), "{report}");
        assert_eq!(report["loopDir"], "loop");
    }
    assert_eq!(before, [world.read("flyball.toml"), world.read("loop/prompt.md")]);
}

#[test]
fn a_ralph_folder_is_adopted_with_its_prompt_and_its_stories() {
    let prd = json!({
        "branchName": "feature",
        "userStories": [
            { "id": 1, "title": "A", "passes": true, "size": "S" },
            { "id": "US-2", "title": "B", "priority": 7, "passes": false, "notes": "n" },
        ],
    });
    let world = rust()
        .file("ralph/prompt.md", "Read prd.json\n<promise>COMPLETE</promise>\n")
        .file("ralph/prd.json", &prd.to_string())
        .file("ralph/.gitignore", "*.tmp\nlogs/");
    let said = world.run(&["init"]).ok();
    for line in [
        "Adopted  ralph/\n",
        "Adopted  ralph/prd.json: 2 stories, 1 passed, now in tasks.json\n",
        "Kept     ralph/prompt.md\n",
        "Extended ralph/.gitignore\n",
        "Warning  ralph/prompt.md:2 holds nothing but a promise tag",
        "Warning  ralph/prompt.md speaks of `prd.json`",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    assert!(world.run(&["config"]).ok().contains("dir = \"ralph\""));
    assert_eq!(
        world.read("ralph/.gitignore"),
        "*.tmp\nlogs/\nresponses/\nactive.json\nblocked.txt\ndecide.txt\n"
    );
    let tasks = parsed(&world.read("ralph/tasks.json"));
    assert_eq!(tasks["branchName"], "feature");
    assert_eq!(tasks["project"], "project");
    let [first, second] = tasks["userStories"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!((&first["id"], &first["size"]), (&json!("1"), &json!("S")));
    assert_eq!((&first["passes"], &first["reviewStatus"]), (&json!(true), &json!("approved")));
    assert_ne!(first["notes"], "");
    assert_eq!((&second["priority"], &second["reviewStatus"]), (&json!(7), &Value::Null));
    assert_eq!((&second["notes"], &second["dependsOn"]), (&json!("n"), &json!([])));
    world.run(&["init"]).ok();
}

#[test]
fn stories_at_the_root_are_taken_over_and_an_own_task_list_stays() {
    let stories = r#"{"userStories":[{"id":"A","title":"t"}]}"#;
    let world = rust().file("prd.json", stories);
    let report = parsed(&world.run(&["init", "--json"]).ok());
    assert_eq!(report["converted"], json!({ "from": "prd.json", "stories": 1, "passed": 0 }));
    let world = rust().file("prd.json", stories).file(".ralph/tasks.json", "[]");
    let report = parsed(&world.run(&["init", "--json"]).ok());
    assert_eq!((&report["converted"], &report["loopDir"]), (&Value::Null, &json!(".ralph")));
    assert_eq!(world.read(".ralph/tasks.json"), "[]");
    let error = rust().file("prd.json", "{").run(&["init"]).failed(65);
    assert!(error.starts_with("error: `prd.json` is no valid JSON\n"), "{error}");
}

#[test]
fn outside_of_git_there_is_nothing_to_set_up() {
    let error = World::empty().run(&["init"]).failed(66);
    assert!(error.contains("is not in a git repository\n"), "{error}");
    assert!(error.ends_with("  hint: `git init`, then `flyball init` again\n"), "{error}");
}

#[test]
fn init_writes_the_project_s_file_and_no_other() {
    let error = rust().run(&["--config", "x.toml", "init"]).failed(64);
    assert!(error.contains("cannot use `--config`"), "{error}");
}

#[test]
fn the_repository_s_root_is_set_up_from_any_folder_in_it() {
    let world = rust().file("src/lib.rs", "");
    world.run(&["-C", "src", "init"]).ok();
    assert!(world.read("flyball.toml").contains("cargo test"));
}

#[test]
fn the_agent_is_the_one_asked_for_or_one_that_is_installed() {
    let world = World::repository().program("codex").program("gemini");
    let report = parsed(&world.run(&["init", "--json"]).ok());
    assert_eq!(report["agent"], json!({ "name": "codex", "installed": true }));
    let world = World::repository();
    let report = parsed(&world.run(&["init", "--agent", "qwen", "--json"]).ok());
    assert_eq!(report["agent"], json!({ "name": "qwen", "installed": false }));
    assert!(world.run(&["config"]).ok().contains("name = \"qwen\""));
    assert_eq!(report["warnings"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(
        World::repository().run(&["init", "--agent", "claud"]).failed(64),
        "error: flyball knows no agent `claud`\n  hint: did you mean `claude`?\n"
    );
}

#[test]
fn the_loop_folder_stays_inside_the_repository() {
    for dir in ["../x", "/tmp/x", "."] {
        let error = rust().run(&["init", "--dir", dir]).failed(64);
        assert!(error.contains("must be a relative path inside the repository"), "{error}");
    }
}

#[test]
fn a_bare_list_of_stories_is_adopted_without_review() {
    let list = r#"[{"id":"A","title":"one","passes":true},{"title":"two","size":"S"}]"#;
    let world = rust().file("ralph/tasks.json", list).file("ralph/prompt.md", "Do it.\n");
    let said = world.run(&["init"]).ok();
    for line in [
        "Adopted  ralph/tasks.json: 2 stories, 1 passed, now in tasks.json\n",
        "Review   off: the list knows no reviews ([review] in flyball.toml)\n",
        "Extended ralph/tasks.json\n",
        "Warning  ralph/prompt.md names neither {{task}} nor {{mode}}: every run appends",
    ] {
        assert!(said.contains(line), "{line} in {said}");
    }
    let tasks = parsed(&world.read("ralph/tasks.json"));
    let ids: Vec<&Value> =
        tasks["userStories"].as_array().unwrap().iter().map(|s| &s["id"]).collect();
    assert_eq!(ids, [&json!("A"), &json!("US-002")]);
    assert_eq!(tasks["userStories"][1]["size"], "S");
    assert_eq!(parsed(&world.run(&["config", "--json"]).ok())["review"]["enabled"], false);
    // A list that knows reviews keeps them.
    let list = r#"{"userStories":[{"id":"A","title":"one","reviewStatus":null}]}"#;
    let world = rust().file("ralph/prd.json", list);
    assert!(!world.run(&["init"]).ok().contains("Review   off"));
}

#[test]
fn the_folder_and_stories_of_scripts_ralph_are_adopted() {
    let prd = r#"{"project":"Cart","branchName":"ralph/cart","userStories":[
        {"id":"US-001","title":"Add","acceptanceCriteria":["Typecheck passes"],"priority":1,"passes":false,"notes":""}]}"#;
    let world = rust()
        .file("scripts/ralph/prd.json", prd)
        .file("scripts/ralph/prompt.md", "Read prd.json.\n")
        .file("scripts/ralph/ralph.sh", "");
    let said = world.run(&["init"]).ok();
    assert!(said.contains("Adopted  scripts/ralph/\n"), "{said}");
    assert!(said.contains("Review   off"), "{said}");
    let tasks = parsed(&world.read("scripts/ralph/tasks.json"));
    assert_eq!((&tasks["project"], &tasks["branchName"]), (&json!("Cart"), &json!("ralph/cart")));
    assert!(world.run(&["config"]).ok().contains("dir = \"scripts/ralph\""));
}

#[test]
fn a_markdown_checklist_becomes_stories() {
    let list =
        "# Todo\n\n- [x] Set up\n- [ ] Add a cart\n  - [ ] `make cart` is green\n- [ ] Show it\n";
    for name in ["TODO.md", "@fix_plan.md", "ralph/IMPLEMENTATION_PLAN.md"] {
        let world = rust().file(name, list).file("ralph/x", "");
        let world = if name.contains('/') { world.file("ralph/prompt.md", "Do.\n") } else { world };
        let report = parsed(&world.run(&["init", "--json"]).ok());
        assert_eq!(
            report["converted"],
            json!({ "from": name, "stories": 3, "passed": 1 }),
            "{report}"
        );
        assert_eq!(report["review"], false);
        let dir = report["loopDir"].as_str().unwrap();
        let tasks = parsed(&world.read(&format!("{dir}/tasks.json")));
        let cart = &tasks["userStories"][1];
        assert_eq!((&cart["id"], &cart["title"]), (&json!("US-002"), &json!("Add a cart")));
        assert_eq!(cart["acceptanceCriteria"], json!(["`make cart` is green"]));
        assert_eq!(tasks["userStories"][0]["reviewStatus"], "approved");
    }
}
