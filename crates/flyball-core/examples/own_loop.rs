//! An agent loop of one's own with the guards inside: model, tools, malformed calls, repetition,
//! budgets, and a "done" that is believed only when the checks are green.
//!
//! `cargo run -p flyball-core --example own_loop`
//!
//! The loop is `main`. Below it stand what an agent builder already has: a model (here a script that
//! makes every mistake once), tools, and a check.
#![expect(clippy::disallowed_methods, reason = "a program of its own has a clock of its own")]
#![expect(clippy::print_stdout, reason = "an example talks to its terminal")]

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use flyball_core::call::{CallGuard, ToolOutcome, ToolResult, ValidationFailure, ValidationKind};
use flyball_core::event::Spend;
use flyball_core::gate::blocking::Refusal;
use flyball_core::gate::{BlockingEvent, Check, Finding, FindingKind, GateResult};
use flyball_core::iteration::Budget;
use flyball_core::policy::LimitRules;
use flyball_core::{CallId, Moment, Policy};
use serde_json::Value;

const TASK: &str = "make the total count every item";

fn main() -> ExitCode {
    let policy = Policy::default();
    let mut guard = CallGuard::new(policy.calls.clone(), now);
    let limits = LimitRules { iterations: 30, tokens: 50_000, ..policy.limits.clone() };
    let mut budget = Budget::new(limits, now);
    let mut project = Project { total_is_right: false };
    let mut last_gates: Option<GateResult> = None;
    let mut heard = TASK.to_owned();
    for turn in 1_u32.. {
        if let Some(trip) = budget.used_up_before_next() {
            return stopped(&trip.evidence);
        }
        let reply = model(turn, &heard);
        budget.spend(Spend { input_tokens: 900, output_tokens: 100, cost_micro_usd: 0 });
        budget.iterated();
        let verdict = match reply {
            // A completion is a claim: the checks decide, and a refusal says what to do.
            Reply::Done => {
                guard.spoke();
                let gates = project.check();
                if gates.is_green() {
                    println!("{turn:>2}  done, and verified");
                    return ExitCode::SUCCESS;
                }
                let refusal = Refusal::new(TASK, &gates).after(last_gates.as_ref());
                heard = BlockingEvent::new(refusal).to_text();
                println!("{turn:>2}  done, refused: {}", heard.lines().next().unwrap_or_default());
                last_gates = Some(gates);
                continue;
            }
            // Arguments are read before anything runs; what is wrong with them is told, and counted.
            Reply::Call { tool, args } => match serde_json::from_str::<Value>(args) {
                Err(error) => guard.invalid(&malformed(args, &error)),
                Ok(args) => {
                    let call = guard.call(CallId::new(turn.to_string()), tool, &args);
                    let before = guard.before(&call);
                    if before.may_run() {
                        let (outcome, text) = project.run(tool, &args);
                        heard.clone_from(&text);
                        before.firmer(guard.after(&ToolResult::new(call.id, outcome, &text)))
                    } else {
                        before
                    }
                }
            },
        };
        if let Some(message) = verdict.message() {
            println!("{turn:>2}  {}: {message}", verdict.rung().as_str());
            heard =
                if verdict.may_run() { format!("{heard}\n{message}") } else { message.to_owned() };
        }
        if let Some(outcome) = verdict.outcome() {
            return stopped(outcome.as_str());
        }
    }
    stopped("out of turns")
}

fn malformed(args: &str, error: &serde_json::Error) -> ValidationFailure {
    ValidationFailure::new(
        ValidationKind::UnparseableJson,
        "arguments as a JSON object",
        args,
        error.to_string(),
    )
}

fn stopped(why: &str) -> ExitCode {
    println!("stopped: {why}");
    ExitCode::FAILURE
}

fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

enum Reply {
    Call { tool: &'static str, args: &'static str },
    Done,
}

/// A model that runs the tests without end until it is refused, and says "done" too early.
fn model(turn: u32, heard: &str) -> Reply {
    match turn {
        1 => Reply::Call { tool: "read", args: r#"{"path": "src/total.rs""# },
        2 => Reply::Call { tool: "read", args: r#"{"path": "src/total.rs"}"# },
        _ if heard.contains("Completion Blocked") => {
            Reply::Call { tool: "edit", args: r#"{"path": "src/total.rs", "to": "1..=n"}"# }
        }
        _ if heard.contains("written") => Reply::Done,
        3..=8 => Reply::Call { tool: "bash", args: r#"{"command": "cargo test"}"# },
        _ => Reply::Done,
    }
}

struct Project {
    total_is_right: bool,
}

impl Project {
    fn run(&mut self, tool: &str, args: &Value) -> (ToolOutcome, String) {
        match tool {
            "read" => (ToolOutcome::Ok, "(1..n).sum()".to_owned()),
            "edit" => {
                self.total_is_right = args.get("to").and_then(Value::as_str) == Some("1..=n");
                (ToolOutcome::Ok, "written".to_owned())
            }
            "bash" => (ToolOutcome::Exit, "test total ... FAILED".to_owned()),
            other => (ToolOutcome::Tool, format!("no tool `{other}`")),
        }
    }

    fn check(&self) -> GateResult {
        let mut tests =
            if self.total_is_right { Check::passed("tests") } else { Check::failed("tests") };
        if !self.total_is_right {
            let wrong = Finding::new(FindingKind::Test, "left: 10, right: 15");
            tests.findings.push(wrong.named("total").at("src/total.rs", 7, None));
        }
        GateResult { checks: vec![tests], ..GateResult::default() }
    }
}
