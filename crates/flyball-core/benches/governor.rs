//! What one tool call costs the whole governor, early and late in a session, and how large the
//! state of a session gets.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use flyball_core::call::{CallRing, ToolCall, ToolOutcome, ToolResult};
use flyball_core::event::{
    AgentFact, AgentTraits, HumanFiles, RunStart, TasksSnapshot, WorktreeSnapshot,
};
use flyball_core::task::TaskMemory;
use flyball_core::{CallId, Event, Governor, IterationNo, Moment, Policy, RunId};
use serde_json::json;

/// The call with this number and its result: 500 different calls over and over.
fn turn(number: u64, policy: &Policy) -> [Event; 2] {
    let id = CallId::new(format!("toolu_{number:020}"));
    let args = json!({ "path": format!("src/file{}.rs", number % 500) });
    let call = ToolCall::new(id.clone(), format!("tool{}", number % 4), &args, &policy.calls);
    let result = ToolResult::new(id, ToolOutcome::Ok, &format!("line {}", number % 500));
    let iteration = IterationNo::new(1);
    [AgentFact::CalledTool(call), AgentFact::ToolReturned(result)]
        .map(|fact| Event::Agent { iteration, fact })
}

/// A governor whose first agent has made this many calls.
fn governor_after(calls: u64, policy: &Policy) -> Governor {
    let text = String::from(r#"{"userStories": [{"id": "a", "title": "a"}]}"#);
    let start = RunStart {
        run: RunId::new("r"),
        policy: policy.clone(),
        gates: Vec::new(),
        snapshot: WorktreeSnapshot {
            tasks: TasksSnapshot::Found { text },
            ..WorktreeSnapshot::default()
        },
        human_files: HumanFiles::default(),
        memory: TaskMemory::default(),
        agent: AgentTraits { steerable: true, ..AgentTraits::default() },
        other_agents: Vec::new(),
        fallbacks: 0,
        rescue: None,
        agent_names: Vec::new(),
        review: None,
        request: None,
    };
    let mut governor = Governor::new();
    governor.step(Moment::default(), &Event::RunStarted(Box::new(start)));
    for number in 1..=calls {
        for event in turn(number, policy) {
            governor.step(Moment::from_millis(number), &event);
        }
    }
    let phase = governor.standing().map(|standing| standing.phase.as_str());
    assert_eq!(phase, Some("iterating"), "the calls must not have ended the session");
    governor
}

fn step(c: &mut Criterion) {
    let policy = Policy::default();
    let mut group = c.benchmark_group("step: call and result");
    for calls in [1_000, 1_000_000] {
        let governor = governor_after(calls, &policy);
        let [call, result] = turn(calls + 1, &policy);
        let now = Moment::from_millis(calls + 1);
        group.bench_function(format!("after {calls} calls"), |b| {
            b.iter_batched_ref(
                || governor.clone(),
                |governor| {
                    black_box(governor.step(now, &call));
                    black_box(governor.step(now, &result));
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

/// Prints the size of the state of one session after many calls of many sub-agents.
fn size(_: &mut Criterion) {
    let policy = Policy::default();
    let mut ring = CallRing::new();
    for number in 0..1_000_000_u64 {
        let id = CallId::new(format!("toolu_{number:020}"));
        let agent = flyball_core::SubAgent::new(format!("sub-agent {}", number % 100));
        let args = json!({ "path": format!("src/file{}.rs", number % 5_000) });
        let tool = format!("a tool with quite a long name {}", number % 300);
        let call = ToolCall::new(id.clone(), tool, &args, &policy.calls).by(agent.clone());
        ring.before(&policy.calls, Moment::from_millis(number), &call);
        if number % 3 > 0 {
            let result = ToolResult::new(id, ToolOutcome::Ok, "result").by(agent);
            ring.after(&policy.calls, Moment::from_millis(number), &result);
        }
    }
    let bytes = serde_json::to_string(&ring).map_or(0, |json| json.len());
    let governor = serde_json::to_string(&governor_after(1_000, &policy));
    let whole = governor.map_or(0, |json| json.len());
    #[expect(clippy::print_stdout, reason = "a benchmark reports to its terminal")]
    {
        println!("state of a session after 1,000,000 calls: {bytes} bytes of JSON");
        println!("state of a governor after 1,000 calls: {whole} bytes of JSON");
    }
}

criterion_group!(benches, step, size);
criterion_main!(benches);
