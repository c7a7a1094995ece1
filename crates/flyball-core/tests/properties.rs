//! What holds for the governor whatever it is told, sensible or not.

#[cfg(test)]
mod properties {
    use flyball_core::call::{
        ToolCall, ToolOutcome, ToolResult, ValidationFailure, ValidationKind, fingerprint_result,
    };
    use flyball_core::claim::read_structured;
    use flyball_core::door::{DoorQuestion, Matter};
    use flyball_core::event::{
        AgentFact, AgentTraits, Commit, Exit, ExitHow, HumanFiles, Resume, RunStart, Spend,
        StopCause, TasksSnapshot, Timer, WorktreeSnapshot,
    };
    use flyball_core::gate::{Check, CheckStatus, Counts, Finding, FindingKind, GateResult};
    use flyball_core::governor::RunPhase;
    use flyball_core::human::{HumanWish, LimitChange};
    use flyball_core::policy::{OnBlocked, OnSessionHalt, OnStuck, Policy, Progress};
    use flyball_core::task::{AttemptReport, AttemptStatus, TaskMemory};
    use flyball_core::{
        CallId, Effect, Event, GateName, Governor, IterationNo, Millis, Moment, RunId, TaskId,
    };
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// An event with the time since the one before; a clock may also go back.
    type Told = (i32, Event);

    const WORDS: [&str; 8] = [
        "",
        "<promise>COMPLETE</promise>",
        "<promise>BLOCKED:no key</promise>",
        "<promise>DECIDE:a or b?</promise>",
        "<promise>BLOCKED:</promise><promise>what</promise>",
        "file: src/lib.rs, file: src/main.rs",
        "ünïcödé \u{0} \u{202e}",
        "{ \"no\": JSON",
    ];

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            9 => select(&WORDS[..]).prop_map(String::from),
            1 => "\\PC{0,40}",
        ]
    }

    fn tree() -> impl Strategy<Value = String> {
        select(&["t0", "t1", "t2", "t3"][..]).prop_map(String::from)
    }

    /// Mostly the iterations a short run has.
    fn iteration() -> impl Strategy<Value = IterationNo> {
        prop_oneof![20 => 0..6_u32, 1 => any::<u32>()].prop_map(IterationNo::new)
    }

    fn moment() -> impl Strategy<Value = Moment> {
        prop_oneof![9 => 0..100_000_000_u64, 1 => any::<u64>()].prop_map(Moment::from_millis)
    }

    fn tasks() -> impl Strategy<Value = TasksSnapshot> {
        let story = |id: &str, done: bool| {
            let status = if done { "\"approved\"" } else { "null" };
            format!(
                r#"{{"id": "{id}", "title": "x", "passes": {done}, "reviewStatus": {status},
                "reviewCount": {}, "notes": "n"}}"#,
                u8::from(done)
            )
        };
        let list = move |stories: Vec<(&'static str, bool)>| {
            let stories: Vec<String> =
                stories.into_iter().map(|(id, done)| story(id, done)).collect();
            TasksSnapshot::Found { text: format!("{{\"userStories\": [{}]}}", stories.join(",")) }
        };
        prop_oneof![
            1 => Just(TasksSnapshot::Absent),
            1 => word().prop_map(|error| TasksSnapshot::Unreadable { error }),
            1 => word().prop_map(|text| TasksSnapshot::Found { text }),
            8 => vec((select(&["a", "b", "c"][..]), any::<bool>()), 0..4).prop_map(list),
        ]
    }

    fn snapshot() -> impl Strategy<Value = WorktreeSnapshot> {
        let head = select(&["c0", "c1", "c2"][..]).prop_map(String::from);
        let commit = word().prop_map(|subject| Commit { hash: "h".into(), subject });
        let rest = (vec(word(), 0..3), vec(word(), 0..3), vec(commit, 0..3), tasks());
        (proptest::option::of(head), tree(), rest).prop_map(
            |(head, code_tree, (uncommitted, changed, commits, tasks))| WorktreeSnapshot {
                head,
                progress_tree: format!("{code_tree}+"),
                checkpoint_tree: code_tree.clone(),
                code_tree,
                uncommitted,
                changed,
                commits,
                tasks,
                tamper: flyball_core::gate::tamper::TamperSight::default(),
            },
        )
    }

    fn gates() -> impl Strategy<Value = GateResult> {
        let status = prop_oneof![
            3 => Just(CheckStatus::Passed),
            2 => Just(CheckStatus::Failed),
            1 => Just(CheckStatus::TimedOut),
            1 => word().prop_map(|reason| CheckStatus::Skipped { reason }),
        ];
        let counts = (any::<u8>(), any::<u8>()).prop_map(|(p, f)| Counts {
            passed: p.into(),
            failed: f.into(),
            skipped: 0,
        });
        let check = (status, proptest::option::of(counts), vec(word(), 0..3)).prop_map(
            |(status, counts, messages)| {
                let mut check = Check::bare("tests", status);
                check.counts = counts;
                let finding = |message: String| Finding::new(FindingKind::Test, message);
                check.findings = messages.into_iter().map(finding).collect();
                check
            },
        );
        (tree(), vec(check, 0..3)).prop_map(|(tree, checks)| GateResult { tree, checks })
    }

    fn talk() -> impl Strategy<Value = AgentFact> {
        let id = || (0..4_u8).prop_map(|id| CallId::new(id.to_string()));
        let call = (id(), 0..3_u8).prop_map(|(id, what)| {
            let identity = fingerprint_result(&what.to_string());
            AgentFact::CalledTool(ToolCall::identified(id, "tool", identity))
        });
        let outcome = select(
            &[ToolOutcome::Ok, ToolOutcome::Exit, ToolOutcome::Tool, ToolOutcome::Refused][..],
        );
        let result =
            (id(), outcome, any::<u64>(), word()).prop_map(|(id, outcome, chars, text)| {
                let mut result = ToolResult::new(id, outcome, &text);
                result.chars = chars;
                AgentFact::ToolReturned(result)
            });
        let nonsense = word().prop_map(|error| {
            let kind = ValidationKind::BadStreamLine;
            AgentFact::SpokeNonsense(ValidationFailure::new(
                kind,
                error.clone(),
                &error,
                error.clone(),
            ))
        });
        prop_oneof![
            4 => call,
            4 => result,
            1 => nonsense,
            1 => Just(AgentFact::Spoke),
            1 => Just(AgentFact::ShowedLife),
            1 => Just(AgentFact::Started { pid: None }),
        ]
    }

    fn report() -> impl Strategy<Value = AttemptReport> {
        let task = select(&["a", "b", "c", "none"][..]);
        let status =
            select(&[AttemptStatus::InProgress, AttemptStatus::Blocked, AttemptStatus::Done][..]);
        (task, status, word(), word(), proptest::bool::weighted(0.1)).prop_map(
            |(task, status, blocker, work, tripped)| AttemptReport {
                task: TaskId::new(task),
                status,
                blockers: [blocker].into(),
                work: [work].into(),
                tripped,
            },
        )
    }

    fn fact() -> impl Strategy<Value = AgentFact> {
        let how =
            select(&[ExitHow::Code(0), ExitHow::Code(1), ExitHow::Signal(9), ExitHow::Lost][..]);
        let exit = (how, word()).prop_map(|(how, last_words)| {
            AgentFact::Exited(Exit { how, claims: read_structured(&last_words), last_words })
        });
        let spend = prop_oneof![9 => 0..5_000_u64, 1 => any::<u64>()];
        let limit = (proptest::option::of(moment()), word());
        prop_oneof![
            8 => exit,
            8 => talk(),
            2 => spend.prop_map(|n| AgentFact::Spent(Spend {
                input_tokens: n, output_tokens: n, cost_micro_usd: n,
            })),
            1 => any::<u16>().prop_map(|permille| AgentFact::FilledContext { permille }),
            1 => limit.prop_map(|(resets_at, message)| AgentFact::HitLimit { resets_at, message }),
            1 => word().prop_map(|message| AgentFact::LostModel { message }),
            1 => word().prop_map(|message| AgentFact::RefusedCredentials { message }),
            1 => word().prop_map(|message| AgentFact::StoppedItself { message }),
            1 => word().prop_map(|why| AgentFact::CouldNotStart { why }),
            2 => report().prop_map(AgentFact::ReportedAttempt),
            4 => question().prop_map(AgentFact::Asked),
        ]
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only talk about calls is asked about")]
    fn question() -> impl Strategy<Value = DoorQuestion> {
        let matter = prop_oneof![
            4 => talk().prop_filter_map("a call or a result", |fact| match fact {
                AgentFact::CalledTool(call) => Some(Matter::Call(call)),
                AgentFact::ToolReturned(result) => Some(Matter::Result(result)),
                AgentFact::SpokeNonsense(failure) => Some(Matter::Invalid(failure)),
                _ => None,
            }),
            2 => (word(), 0..4_u32).prop_map(|(said, client_cap)| Matter::Stop { said, client_cap }),
            1 => report().prop_map(Matter::Report),
            1 => Just(Matter::Nothing),
            1 => Just(Matter::AsksModel),
        ];
        (any::<u64>(), matter, any::<bool>(), proptest::option::of(any::<u16>())).prop_map(
            |(number, matter, hears, context)| DoorQuestion { number, matter, hears, context },
        )
    }

    fn policy() -> impl Strategy<Value = Policy> {
        let numbers = (0..6_u32, 1..5_u32, 1..5_u32, 1..4_u32, 0..20_000_u64);
        let choices = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
        (numbers, choices).prop_map(|(numbers, (stops, next, blocked, by_tree, review))| {
            let (iterations, stuck, breaker, refusals, tokens) = numbers;
            let mut rules = Policy::default().into_rules();
            rules.limits.iterations = iterations;
            rules.limits.stuck = stuck;
            rules.limits.tokens = tokens;
            rules.limits.runtime = Millis::from_secs(u64::from(iterations) * 3_000);
            rules.iterations.circuit_breaker = breaker;
            rules.iterations.gate_refusals = refusals;
            rules.review.enabled = review;
            let halts = [OnSessionHalt::Restart, OnSessionHalt::Stop];
            rules.iterations.on_session_halt = halts[usize::from(stops)];
            rules.iterations.on_stuck = if next { OnStuck::Next } else { OnStuck::Halt };
            rules.iterations.on_blocked = if blocked { OnBlocked::Next } else { OnBlocked::Halt };
            rules.iterations.progress = if by_tree { Progress::Tree } else { Progress::Commit };
            Policy::new(rules).unwrap()
        })
    }

    fn human_files() -> impl Strategy<Value = HumanFiles> {
        let maybe = || proptest::option::weighted(0.1, word());
        (maybe(), maybe(), maybe()).prop_map(|(blocked, question, answer)| HumanFiles {
            blocked,
            question,
            answer,
            folder: None,
            accepted_tamper: Vec::new(),
        })
    }

    fn start() -> impl Strategy<Value = Event> {
        (policy(), snapshot(), human_files(), 0..3_u8, any::<bool>()).prop_map(
            |(policy, snapshot, human_files, gates, steerable)| {
                let gate = GateName::new("tests");
                Event::RunStarted(Box::new(RunStart {
                    run: RunId::new("r"),
                    policy,
                    gates: if gates == 0 { vec![] } else { vec![gate] },
                    snapshot,
                    human_files,
                    memory: TaskMemory::default(),
                    agent: AgentTraits { steerable, ..AgentTraits::default() },
                    other_agents: Vec::new(),
                    fallbacks: 0,
                    rescue: None,
                    agent_names: Vec::new(),
                    review: None,
                    request: None,
                }))
            },
        )
    }

    fn timer() -> impl Strategy<Value = Timer> {
        let all =
            [Timer::IterationTimeout, Timer::Runtime, Timer::Stall, Timer::StopGrace, Timer::Wait];
        (0..all.len()).prop_map(move |number| all[number])
    }

    fn wish() -> impl Strategy<Value = HumanWish> {
        let limit = prop_oneof![
            any::<u32>().prop_map(LimitChange::Iterations),
            (0..5_u32).prop_map(LimitChange::Stuck),
            any::<u64>().prop_map(LimitChange::Tokens),
            (-1.0..9.0).prop_map(LimitChange::CostUsd),
            (0..9_000_000_u64).prop_map(|span| LimitChange::Runtime(Millis::new(span))),
            (0..9_000_000_u64).prop_map(|span| LimitChange::Wait(Millis::new(span))),
            (0..9_000_000_u64).prop_map(|span| LimitChange::StallAfter(Millis::new(span))),
        ];
        prop_oneof![
            6 => word().prop_map(|text| HumanWish::Tell { text }),
            3 => vec(limit, 0..3).prop_map(|limits| HumanWish::ChangeLimits { limits }),
            1 => Just(HumanWish::StopAfterIteration),
        ]
    }

    fn event() -> impl Strategy<Value = Event> {
        let tamper = vec(word().prop_map(|m| Finding::new(FindingKind::Tamper, m)), 0..2);
        let cause = select(&[StopCause::Interrupt, StopCause::Terminate, StopCause::Command][..]);
        let resume =
            (policy(), human_files(), any::<bool>()).prop_map(|(policy, human_files, closed)| {
                Resume { policy, human_files, closed, tasks: None, tamper: None }
            });
        prop_oneof![
            30 => (iteration(), fact())
                .prop_map(|(iteration, fact)| Event::Agent { iteration, fact }),
            12 => (iteration(), snapshot()).prop_map(|(iteration, snapshot)| {
                Event::WorktreeSeen { iteration, snapshot: Box::new(snapshot) }
            }),
            12 => (iteration(), gates(), tamper).prop_map(|(iteration, result, tamper)| {
                Event::GatesFinished { iteration, result: Box::new(result), tamper }
            }),
            8 => (timer(), iteration())
                .prop_map(|(timer, iteration)| Event::TimerFired { timer, iteration }),
            1 => cause.prop_map(|cause| Event::StopRequested { cause }),
            1 => word().prop_map(|why| Event::ShellFailed { why }),
            1 => word().prop_map(|why| Event::StateReplaced { why }),
            3 => wish().prop_map(|wish| Event::HumanAsked { request: 1, wish }),
            2 => resume.prop_map(|resume| Event::RunResumed(Box::new(resume))),
            1 => Just(Event::TimePassed),
            1 => start(),
        ]
    }

    /// A run and whatever is told about it.
    fn telling(events: usize) -> impl Strategy<Value = Vec<Told>> {
        let told = (prop_oneof![9 => 0..900_000_i32, 1 => any::<i32>()], event());
        (start(), vec(told, 0..events)).prop_map(|(start, mut told)| {
            told.insert(0, (0, start));
            told
        })
    }

    /// Moves the clock on by what the event says, or back.
    fn journal(told: Vec<Told>) -> Vec<(Moment, Event)> {
        let mut now = 1_000_000_000_u64;
        let stamp = |(pause, event): Told| {
            now = now.saturating_add_signed(pause.into());
            (Moment::from_millis(now), event)
        };
        told.into_iter().map(stamp).collect()
    }

    /// Most of what is told is made to fit the phase the governor is in, so that runs get far.
    fn fitted(governor: &Governor, event: Event) -> Event {
        let Some(standing) = governor.standing() else { return event };
        let here = standing.iteration;
        let fits = |iteration: IterationNo| {
            if iteration.get().is_multiple_of(4) { iteration } else { here }
        };
        match event {
            Event::Agent { iteration, fact } => Event::Agent { iteration: fits(iteration), fact },
            Event::WorktreeSeen { iteration, snapshot } => {
                Event::WorktreeSeen { iteration: fits(iteration), snapshot }
            }
            Event::GatesFinished { iteration, result, tamper } => {
                let iteration = if standing.phase == RunPhase::Baselining {
                    IterationNo::BASELINE
                } else {
                    fits(iteration)
                };
                Event::GatesFinished { iteration, result, tamper }
            }
            Event::TimerFired { timer, iteration } => {
                Event::TimerFired { timer, iteration: fits(iteration) }
            }
            other @ (Event::RunStarted(_)
            | Event::RunResumed(_)
            | Event::StopRequested { .. }
            | Event::TimePassed
            | Event::StateReplaced { .. }
            | Event::HumanAsked { .. }
            | Event::ShellFailed { .. }) => other,
        }
    }

    fn state(governor: &Governor) -> String {
        serde_json::to_string(governor).unwrap()
    }

    /// Whether an agent runs, as far as the shell knows.
    fn follow(alive: &mut Option<IterationNo>, event: &Event) {
        let gone = if let Event::Agent { iteration, fact } = event {
            let ends = matches!(fact, AgentFact::Exited(_) | AgentFact::CouldNotStart { .. });
            ends && *alive == Some(*iteration)
        } else {
            matches!(event, Event::RunResumed(_))
        };
        if gone {
            *alive = None;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(192))]

        #[test]
        fn two_agents_never_run_at_once(told in telling(120)) {
            let mut governor = Governor::new();
            let mut alive = None;
            for (at, event) in journal(told) {
                let event = fitted(&governor, event);
                follow(&mut alive, &event);
                for effect in governor.step(at, &event) {
                    if let Effect::StartAgent { iteration, .. } = effect {
                        prop_assert_eq!(alive, None, "a second agent for {}", iteration);
                        alive = Some(iteration);
                    }
                }
            }
        }

        #[test]
        fn a_run_ends_once_and_stays_silent(told in telling(120)) {
            let mut governor = Governor::new();
            let mut is_over = false;
            for (at, event) in journal(told) {
                let event = fitted(&governor, event);
                is_over = is_over && !matches!(event, Event::RunResumed(_));
                let effects = governor.step(at, &event);
                prop_assert!(!is_over || effects.is_empty(), "{:?} after the end", effects);
                let ends = effects.iter().filter(|it| matches!(it, Effect::FinishRun(_))).count();
                prop_assert!(ends <= 1);
                let ends_last = matches!(effects.last(), Some(Effect::FinishRun(_)));
                prop_assert_eq!(ends == 1, ends_last, "an order after the end");
                is_over = is_over || ends == 1;
                prop_assert_eq!(is_over, governor.ending().is_some());
            }
        }

        #[test]
        fn replay_rebuilds_the_state_byte_for_byte(told in telling(80)) {
            let mut governor = Governor::new();
            let mut told_so_far = Vec::new();
            let mut last = Vec::new();
            for (at, event) in journal(told) {
                let event = fitted(&governor, event);
                last = governor.step(at, &event);
                told_so_far.push((at, event));
            }
            let (again, last_again) = Governor::replay(told_so_far);
            prop_assert_eq!(state(&again), state(&governor));
            prop_assert_eq!(last_again, last);
        }

        #[test]
        fn a_state_written_and_read_gives_the_same_orders(told in telling(80), at_event in 0..80_usize) {
            let mut governor = Governor::new();
            let mut restored = None;
            for (number, (at, event)) in journal(told).into_iter().enumerate() {
                let event = fitted(&governor, event);
                if number == at_event {
                    restored = Some(serde_json::from_str::<Governor>(&state(&governor)).unwrap());
                }
                let effects = governor.step(at, &event);
                if let Some(restored) = &mut restored {
                    prop_assert_eq!(restored.step(at, &event), effects);
                }
            }
            if let Some(restored) = restored {
                prop_assert_eq!(restored, governor);
            }
        }

        #[test]
        fn an_event_can_be_written_and_read(event in event()) {
            let json = serde_json::to_string(&event).unwrap();
            prop_assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_state_stays_bounded(told in telling(500)) {
            let mut governor = Governor::new();
            for (at, event) in journal(told) {
                let event = fitted(&governor, event);
                governor.step(at, &event);
            }
            prop_assert!(state(&governor).len() <= 2_000_000);
        }
    }
}
