//! The demo's agent: a script that reads a file again and again until it is told, lies about being
//! done, is told what is wrong, and mends it. It speaks flyball's own protocol on stdout and listens
//! on stdin.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::terminal;

/// Starts the agent when it is the first argument.
pub const AGENT_ARGUMENT: &str = "__demo-agent";

const WITH_A_BUG: &str = "echo \"Hello, $1!\"\n";
const MENDED: &str = "echo \"Hello, ${1:-world}!\"\n";

/// Plays one iteration.
pub fn agent_main() -> ExitCode {
    let prompt = hear().unwrap_or_default();
    let is_first = std::env::var("FLYBALL_ITERATION").as_deref() == Ok("1");
    let played = if is_first { first() } else { second(&prompt) };
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::write_err(&format!("demo agent: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Looks at the same file again and again, writes something, and claims to be done.
fn first() -> io::Result<()> {
    say("I will look at the check first.");
    for number in 1..=3 {
        let text = fs::read_to_string("check.sh")?;
        call(number, "read_file", &json!({ "path": "check.sh" }), &text);
    }
    let told = hear()?;
    let told = told.split_once(". ").map_or(told.as_str(), |(first, _)| first);
    say(&format!("I am told: {told}. Writing greet.sh."));
    write(4, "greet.sh", WITH_A_BUG)?;
    mark_passed()?;
    commit("greet: first version")?;
    say("All done. <promise>COMPLETE</promise>");
    Ok(())
}

/// Reads what flyball found, and mends it.
fn second(prompt: &str) -> io::Result<()> {
    let told =
        prompt.lines().find(|line| line.contains("greets_the_world") && line.contains("got"));
    say(&format!("I am told: {}", told.unwrap_or("nothing").trim()));
    say("The name may be missing. Mending greet.sh.");
    write(1, "greet.sh", MENDED)?;
    let output = Command::new("sh").arg("check.sh").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    call(2, "bash", &json!({ "command": "sh check.sh" }), &text);
    mark_passed()?;
    commit("greet: greet the world when no name is given")?;
    say("Both checks pass now. <promise>COMPLETE</promise>");
    Ok(())
}

/// The next line flyball says: the prompt first, then advice.
fn hear() -> io::Result<String> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let line: Value = serde_json::from_str(&line).map_err(io::Error::other)?;
    Ok(line.get("text").and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn write(number: u32, path: &str, text: &str) -> io::Result<()> {
    fs::write(path, text)?;
    call(number, "write_file", &json!({ "path": path }), "written");
    Ok(())
}

fn mark_passed() -> io::Result<()> {
    let path = Path::new(".flyball/tasks.json");
    let mut tasks: Value =
        serde_json::from_str(&fs::read_to_string(path)?).map_err(io::Error::other)?;
    if let Some(story) = tasks.pointer_mut("/userStories/0").and_then(Value::as_object_mut) {
        story.insert("passes".to_owned(), Value::Bool(true));
        story.insert("notes".to_owned(), Value::String("checked with check.sh".to_owned()));
    }
    fs::write(path, format!("{tasks:#}\n"))
}

fn commit(message: &str) -> io::Result<()> {
    for arguments in [&["add", "-A"][..], &["commit", "-q", "-m", message]] {
        Command::new("git").args(arguments).output()?;
    }
    Ok(())
}

fn call(number: u32, tool: &str, args: &Value, output: &str) {
    let id = number.to_string();
    tell(&json!({ "type": "call", "id": id, "tool": tool, "args": args }));
    tell(&json!({ "type": "result", "id": id, "output": output, "error": null }));
    tell(&json!({ "type": "usage", "input_tokens": 900, "output_tokens": 60, "cost_usd": 0.004 }));
}

fn say(text: &str) {
    tell(&json!({ "type": "text", "text": text }));
}

fn tell(line: &Value) {
    terminal::write_out(&format!("{line}\n")).ok();
    // Slow enough to be read along, quick enough not to be waited for.
    thread::sleep(Duration::from_millis(120));
}
