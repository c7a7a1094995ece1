//! Recorded output of real clients, read by their adapters.
//!
//! `tests/fixtures/<agent>/<case>.jsonl` (`.txt` for aider) is what the client printed,
//! `<case>.stderr` what it printed there, `<case>.meta.json` how it was started and ended, and
//! `<case>.facts.json` what flyball must read in it. `FLYBALL_BLESS=1` rewrites the last; look at
//! every difference before you commit it.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails loudly")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use flyball::client::{Adapter, Fact, LocalTime, ReadRequest, adapter};
use flyball_core::event::{Exit, ExitHow};
use flyball_core::{AgentFact, Moment};
use proptest::prelude::*;
use serde_json::{Value, json};

/// One recorded session.
struct Recording {
    name: String,
    adapter: &'static dyn Adapter,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    how: ExitHow,
    facts: PathBuf,
}

fn recordings() -> Vec<Recording> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for folder in sorted(&root) {
        let agent = folder.file_name().unwrap().to_str().unwrap().to_owned();
        // What clients write down themselves is read elsewhere.
        let Some(adapter) = adapter(agent.split('-').next().unwrap()) else {
            assert_eq!(agent, "transcripts");
            continue;
        };
        for meta in sorted(&folder) {
            let Some(case) = meta.to_str().unwrap().strip_suffix(".meta.json") else { continue };
            let read = |ending: &str| fs::read(format!("{case}.{ending}")).ok();
            let told: Value = serde_json::from_slice(&fs::read(&meta).unwrap()).unwrap();
            let code = i32::try_from(told["rc"].as_i64().unwrap()).unwrap();
            found.push(Recording {
                name: format!("{agent}/{}", Path::new(case).file_name().unwrap().display()),
                adapter,
                stdout: read("jsonl").or_else(|| read("txt")).unwrap(),
                stderr: read("stderr").unwrap_or_default(),
                how: if code < 0 { ExitHow::Signal(-code) } else { ExitHow::Code(code) },
                facts: PathBuf::from(format!("{case}.facts.json")),
            });
        }
    }
    found
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// 2026-11-15T07:22:00Z, in a zone without an offset: when the recordings were made.
fn clock() -> LocalTime {
    LocalTime { now: Moment::from_millis(1_794_727_320_000), ahead_of_utc_secs: 0 }
}

fn request() -> ReadRequest {
    ReadRequest { prompt: "go".to_owned(), clock: Some(clock), ..ReadRequest::default() }
}

/// Reads a session in pieces of these sizes, over and over.
fn read(recording: &Recording, stdout: &[u8], sizes: &[usize]) -> (Vec<Fact>, Exit) {
    let mut reader = recording.adapter.output().reader(&request());
    let mut facts = Vec::new();
    let mut sizes = sizes.iter().cycle();
    let mut rest = stdout;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
        reader.stdout(piece, &mut facts);
        rest = after;
    }
    reader.stderr(&recording.stderr, &mut facts);
    let exit = reader.finish(recording.how, &mut facts);
    (facts, exit)
}

fn read_whole(recording: &Recording) -> (Vec<Fact>, Exit) {
    read(recording, &recording.stdout, &[usize::MAX])
}

/// One fact a line, with fingerprints as numbers in the order of their first appearance: what
/// matters is which are the same.
fn told(facts: &[Fact], exit: &Exit) -> String {
    let mut classes: BTreeMap<String, usize> = BTreeMap::new();
    let mut text = String::from("[\n");
    for fact in facts {
        let mut value = serde_json::to_value(fact).unwrap();
        for field in ["call", "result", "raw"] {
            let Some(print) = value.pointer_mut(&format!("/agent/{field}")) else { continue };
            let next = classes.len() + 1;
            let class = *classes.entry(format!("{field} {print}")).or_insert(next);
            *print = json!(class);
        }
        writeln!(text, "{value},").unwrap();
    }
    writeln!(text, "{}\n]", serde_json::to_value(exit).unwrap()).unwrap();
    text
}

#[test]
fn every_recording_reads_as_it_was_reviewed() {
    let bless = std::env::var_os("FLYBALL_BLESS").is_some();
    let mut wrong = Vec::new();
    let mut read = 0;
    for recording in recordings() {
        let (facts, exit) = read_whole(&recording);
        let told = told(&facts, &exit);
        if bless {
            fs::write(&recording.facts, &told).unwrap();
        }
        let reviewed = fs::read_to_string(&recording.facts).unwrap_or_default();
        if reviewed != told {
            wrong.push(format!("{}:\n{told}", recording.name));
        }
        read += 1;
    }
    assert!(read >= 330, "only {read} recordings were found");
    assert!(wrong.is_empty(), "{} recordings read differently:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_recorded_line_is_bad_or_unknown() {
    for recording in recordings() {
        for fact in read_whole(&recording).0 {
            let bad = match &fact {
                Fact::Agent(AgentFact::SpokeNonsense(failure)) => {
                    failure.kind == flyball_core::call::ValidationKind::BadStreamLine
                }
                Fact::AgentNote(note) => matches!(note, flyball::client::AgentNote::Unknown(_)),
                Fact::Agent(_) => false,
            };
            assert!(!bad, "{}: {fact:?}", recording.name);
        }
    }
}

/// Every client has at least the same five things to tell.
#[test]
fn every_client_tells_calls_results_claims_limits_and_refused_credentials() {
    let recordings = recordings();
    let named = |agent: &str, case: &str| {
        let name = format!("{agent}/{case}");
        let found = recordings.iter().find(|r| r.name.starts_with(&name));
        found.unwrap_or_else(|| panic!("no recording `{name}`"))
    };
    let agents = [
        "claude", "codex", "gemini", "goose", "opencode", "qwen", "copilot", "pi", "cline", "aider",
    ];
    for agent in agents {
        let (facts, _) = read_whole(named(agent, "a_"));
        let has = |wanted: fn(&AgentFact) -> bool| {
            facts.iter().any(|fact| matches!(fact, Fact::Agent(fact) if wanted(fact)))
        };
        if agent != "aider" {
            assert!(has(|fact| matches!(fact, AgentFact::CalledTool(_))), "{agent}: a call");
            assert!(has(|fact| matches!(fact, AgentFact::ToolReturned(_))), "{agent}: a result");
        }
        if agent != "copilot" {
            assert!(has(|fact| matches!(fact, AgentFact::Spent(_))), "{agent}: tokens");
        }
        assert!(
            has(|fact| matches!(fact, AgentFact::Spoke | AgentFact::OnlySpoke { .. })),
            "{agent}: a message"
        );
        let (_, exit) = read_whole(named(agent, "d_promise_complete"));
        assert!(exit.claims.complete, "{agent}: a claim");
        let limited = match agent {
            "gemini" => "e10_429",
            _ => "e_429_always",
        };
        assert_ends_with_trouble(named(agent, limited), |fact| {
            matches!(fact, AgentFact::HitLimit { .. })
        });
        let refused = match agent {
            "claude" | "gemini" => "e6_401",
            _ => "e5_401",
        };
        assert_ends_with_trouble(named(agent, refused), |fact| {
            matches!(fact, AgentFact::RefusedCredentials { .. })
        });
    }
}

/// The session tells this one trouble and claims nothing, whatever its exit code.
fn assert_ends_with_trouble(recording: &Recording, wanted: fn(&AgentFact) -> bool) {
    let (facts, exit) = read_whole(recording);
    let troubles: Vec<_> = facts
        .iter()
        .filter(|fact| {
            matches!(
                fact,
                Fact::Agent(
                    AgentFact::HitLimit { .. }
                        | AgentFact::LostModel { .. }
                        | AgentFact::RefusedCredentials { .. }
                )
            )
        })
        .collect();
    assert_eq!(troubles.len(), 1, "{}: {troubles:?}", recording.name);
    assert!(matches!(troubles[0], Fact::Agent(fact) if wanted(fact)), "{}", recording.name);
    assert!(!exit.claims.complete, "{}", recording.name);
}

#[test]
fn a_retry_that_gets_through_is_no_limit() {
    let recordings = recordings();
    let cases: Vec<_> = recordings.iter().filter(|r| r.name.contains("_then_ok")).collect();
    assert!(cases.len() >= 8, "{}", cases.len());
    for recording in cases {
        let (facts, exit) = read_whole(recording);
        let limited = |fact: &Fact| {
            matches!(fact, Fact::Agent(AgentFact::HitLimit { .. } | AgentFact::LostModel { .. }))
        };
        assert!(!facts.iter().any(limited), "{}", recording.name);
        assert_eq!(exit.last_words, "recovered", "{}", recording.name);
    }
}

#[test]
fn qwen_claims_only_what_it_said_after_the_last_refused_stop() {
    let line = |text: &str| {
        let message = json!({"id": "m", "content": [{"type": "text", "text": text}]});
        format!("{}\n", json!({"type": "assistant", "message": message}))
    };
    let result = |output: u64| {
        let usage = json!({"input_tokens": 1, "output_tokens": output});
        format!("{}\n", json!({"type": "result", "is_error": false, "usage": usage}))
    };
    let claims = |text: &str, refused: &[&str], output: u64| {
        let mut reader = adapter("qwen").unwrap().output().reader(&request());
        let mut facts = Vec::new();
        for said in refused {
            reader.refused_stop(said);
        }
        reader.stdout(line(text).as_bytes(), &mut facts);
        reader.stdout(result(output).as_bytes(), &mut facts);
        reader.finish(ExitHow::Code(0), &mut facts).claims.complete
    };
    let done = "<promise>COMPLETE</promise>";
    assert!(claims(&format!("all well {done} bye"), &[], 0), "nothing was refused");
    assert!(!claims(&format!("{done}still working"), &[done], 0), "a stale promise");
    assert!(claims(&format!("done 1done 2 {done}"), &["done 1"], 0), "a fresh one");
    assert!(!claims(&format!("{done}{done} not"), &[done, "x"], 9), "what was refused is unclear");
    assert!(!claims(&format!("{done} still working"), &[], 9), "a hidden attempt");
    assert!(claims(&format!("done 1done 2 {done}"), &[], 9), "hidden, but at the very end");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn facts_do_not_depend_on_how_the_bytes_are_split(
        pick in any::<prop::sample::Index>(),
        sizes in prop::collection::vec(1_usize..2000, 1..20),
    ) {
        let recordings = recordings();
        let recording = pick.get(&recordings);
        prop_assert_eq!(read(recording, &recording.stdout, &sizes), read_whole(recording));
    }

    #[test]
    fn a_stream_cut_or_changed_anywhere_is_read_without_panic(
        pick in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let recordings = recordings();
        let recording = pick.get(&recordings);
        if !recording.stdout.is_empty() {
            let at = cut.index(recording.stdout.len());
            read(recording, &recording.stdout[..at], &[usize::MAX]);
            let mut changed = recording.stdout.clone();
            changed[at] = byte;
            read(recording, &changed, &[usize::MAX]);
        }
    }
}
