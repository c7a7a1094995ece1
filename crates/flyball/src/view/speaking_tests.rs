//! Who speaks: voices are told apart, calls come before what guards say of them, and a client that
//! repeats a refusal is folded; in every width.

use flyball_core::call::{CallStatus, ToolCall, ToolOutcome, ToolResult};
use flyball_core::door::{DoorAnswer, DoorQuestion, Matter};
use flyball_core::effect::{Effect, Notice};
use flyball_core::guard::{GuardKind, Rung, Trip};
use flyball_core::tasklist::Mode;
use flyball_core::{AgentFact, CallId, Event, IterationNo, Moment};

use super::*;
use crate::client::AgentNote;
use crate::terminal::{Paint, width};

const ONE: IterationNo = IterationNo::new(1);
const AT: Moment = Moment::from_millis(1_794_736_800_000);
const REFUSAL: &str = "tool 'Bash' called 6 times consecutively with identical parameters";

fn call(id: &str) -> ToolCall {
    let args = r#"{"command":"cargo test --lib"}"#;
    ToolCall::from_json(CallId::new(id), "Bash", args, &[])
}

fn agent(fact: AgentFact) -> Event {
    Event::Agent { iteration: ONE, fact }
}

fn asked(id: &str) -> Event {
    let (number, hears, context) = (1, true, None);
    agent(AgentFact::Asked(DoorQuestion { number, matter: Matter::Call(call(id)), hears, context }))
}

fn refused() -> [Effect; 2] {
    let trip = Trip::new(GuardKind::Repetition, 6_u32, 5_u32, REFUSAL);
    let (rung, message) = (Rung::Refuse, format!("{REFUSAL} (blocked 1/3)\nTry another way."));
    let answer =
        DoorAnswer { rung, message, trip: Some(trip.clone()), calls: CallStatus::default() };
    [
        Effect::Announce(Notice::Tripped { trip, rung }),
        Effect::AnswerDoor { iteration: ONE, question: 1, answer },
    ]
}

/// A narrator in the first iteration.
fn begun() -> Narrator {
    let mut narrator = Narrator::of("/shop");
    let (task, briefing) = (None, String::new());
    let start =
        Effect::StartAgent { iteration: ONE, mode: Mode::Implement, task, briefing, agent: 0 };
    narrator.decided(AT, &start);
    narrator
}

/// What a terminal would show of these lines.
fn shown(lines: &[Line], columns: Option<usize>) -> Vec<String> {
    let told = lines.iter().filter(|line| line.weight <= Weight::Call);
    told.flat_map(|line| terminal_lines(line, Paint::OFF, columns)).collect()
}

#[test]
fn a_call_that_is_refused_at_the_door_is_told_before_the_refusal_and_once() {
    for shown_first in [true, false] {
        let mut narrator = begun();
        let mut lines = Vec::new();
        let streamed = agent(AgentFact::CalledTool(call("7")));
        if shown_first {
            lines.extend(narrator.happened(AT, &streamed));
        }
        lines.extend(narrator.happened(AT, &asked("7")));
        for effect in refused() {
            lines.extend(narrator.decided(AT, &effect));
        }
        if !shown_first {
            lines.extend(narrator.happened(AT, &streamed));
        }
        let rows = shown(&lines, None);
        let [first, second] = &rows[..] else { panic!("{rows:?}") };
        assert!(first.contains("CALL") && first.ends_with("Bash  cargo test --lib"), "{rows:?}");
        assert!(second.contains("REFUSE") && second.contains(REFUSAL), "{rows:?}");
    }
}

#[test]
fn what_a_client_repeats_of_a_refusal_is_folded() {
    let mut narrator = begun();
    narrator.happened(AT, &asked("7"));
    for effect in refused() {
        narrator.decided(AT, &effect);
    }
    let printed = format!(
        "ERROR router: blocked by hook: {REFUSAL} (blocked 1/3)\nTry another way. Command: x\nreal trouble\n"
    );
    let rows = shown(&narrator.stderr(AT, printed.as_bytes()), None);
    assert_eq!(
        rows,
        ["  STDERR  #1   (the client repeats what it was told)", "               real trouble"]
    );
    let answer = format!("PreToolUse hook error: {REFUSAL} (blocked 1/3)");
    let result = ToolResult::new(CallId::new("7"), ToolOutcome::Refused, &answer);
    let lines = narrator.happened(AT, &agent(AgentFact::ToolReturned(result)));
    assert_eq!(lines[0].text, "refused, as it was told");
    let failed = AgentNote::Failed(answer);
    assert_eq!(narrator.aside(AT, ONE, &failed), []);
}

#[test]
fn voices_are_told_apart_and_messages_never_glued() {
    let mut narrator = begun();
    let said = |text: &str| AgentNote::Said(text.to_owned());
    let mut lines = narrator.aside(AT, ONE, &said("d1"));
    lines.extend(narrator.happened(AT, &agent(AgentFact::Spoke)));
    lines.extend(narrator.aside(AT, ONE, &said("d2\nand more")));
    lines.extend(narrator.stderr(AT, b"noise\n"));
    lines.extend(narrator.aside(AT, ONE, &said("end")));
    lines.extend(narrator.pause(AT));
    let rows = shown(&lines, None);
    assert_eq!(
        rows,
        [
            "    SAYS  #1   d1",
            "    SAYS  #1   d2",
            "               and more",
            "  STDERR  #1   noise",
            "    SAYS  #1   end",
        ]
    );
}

#[test]
fn everything_fits_the_terminal_and_calls_take_one_row() {
    let mut narrator = begun();
    let long = "wide 漢字 words and a_very_long_name_that_cannot_be_broken_anywhere_at_all_in_it "
        .repeat(3);
    let mut lines = narrator.aside(AT, ONE, &AgentNote::Said(format!("{long}\n")));
    lines.push(Narrator::note(AT, Some(ONE), &long));
    let args = format!(r#"{{"command":"{long}"}}"#);
    let made = ToolCall::from_json(CallId::new("1"), "Bash", &args, &[]);
    lines.extend(narrator.happened(AT, &agent(AgentFact::CalledTool(made))));
    for columns in [40, 60, 80, 200] {
        let rows = shown(&lines, Some(columns));
        assert!(rows.iter().all(|row| width(row) <= columns), "{columns}: {rows:#?}");
        let calls: Vec<&String> = rows.iter().filter(|row| row.contains("CALL")).collect();
        assert_eq!(calls.len(), 1);
        assert!(rows.last() == calls.last().copied() && calls[0].ends_with('…') || columns == 200);
    }
}
