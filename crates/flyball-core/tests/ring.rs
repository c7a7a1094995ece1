//! What holds for the call ring whatever a session does.

#[cfg(test)]
mod properties {
    use flyball_core::call::{
        CallRing, ToolCall, ToolOutcome, ToolResult, ValidationFailure, ValidationKind, Verdict,
        fingerprint_words,
    };
    use flyball_core::guard::Rung;
    use flyball_core::policy::CallRules;
    use flyball_core::{CallId, Moment, Policy, RoundId, SubAgent};
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    /// Something that happens in a session; small numbers, so that things coincide.
    #[derive(Clone, Debug)]
    enum Happening {
        Call { id: u8, agent: u8, tool: u8, arg: u8, round: u8, asked: bool },
        Result { id: u8, agent: u8, outcome: ToolOutcome, text: u8 },
        Invalid,
        Spoke,
        OnlySpoke(u8),
        Life,
        Context(u16),
    }

    fn happening() -> impl Strategy<Value = Happening> {
        let outcome = prop_oneof![
            4 => Just(ToolOutcome::Ok),
            1 => Just(ToolOutcome::Exit),
            2 => Just(ToolOutcome::Tool),
            1 => Just(ToolOutcome::Refused),
        ];
        prop_oneof![
            6 => (0..12_u8, 0..3_u8, 0..3_u8, 0..2_u8, 0..4_u8, any::<bool>()).prop_map(
                |(id, agent, tool, arg, round, asked)| Happening::Call {
                    id, agent, tool, arg, round, asked,
                },
            ),
            6 => (0..12_u8, 0..3_u8, outcome, 0..2_u8)
                .prop_map(|(id, agent, outcome, text)| Happening::Result { id, agent, outcome, text }),
            1 => Just(Happening::Invalid),
            1 => Just(Happening::Spoke),
            1 => (0..3_u8).prop_map(Happening::OnlySpoke),
            1 => Just(Happening::Life),
            1 => any::<u16>().prop_map(Happening::Context),
        ]
    }

    fn rules() -> impl Strategy<Value = CallRules> {
        (0..5_u32, 0..7_u32, 0..4_u32, 0..4_u32, any::<bool>()).prop_map(
            |(nudge, refuse, refusals, failures, account)| {
                let mut rules = Policy::default().calls.clone();
                rules.nudge_after = nudge;
                rules.refuse_after = refuse;
                rules.max_refusals = refusals;
                rules.max_validation_failures = failures;
                rules.max_consecutive_failures = failures;
                rules.refuse_after_changing = refuse + 5;
                rules.account = account;
                rules
            },
        )
    }

    fn play(ring: &mut CallRing, rules: &CallRules, at: u64, what: &Happening) -> Option<Verdict> {
        let now = Moment::from_millis(at);
        let named = |agent: u8| SubAgent::new(["", "one", "two"][usize::from(agent)]);
        // Two of twelve calls have no id.
        let id = |id: u8| CallId::new(if id < 2 { String::new() } else { id.to_string() });
        match what {
            Happening::Call { id: number, agent, tool, arg, round, asked } => {
                let args = json!({ "a": arg });
                let round = RoundId::new(["", "", "r1", "r2"][usize::from(*round)]);
                let mut call = ToolCall::new(id(*number), format!("tool{tool}"), &args, rules)
                    .by(named(*agent))
                    .in_round(round);
                call.mutating = *arg > 0;
                Some(if *asked {
                    ring.ask(rules, now, &call)
                } else {
                    ring.before(rules, now, &call)
                })
            }
            Happening::Result { id: number, agent, outcome, text } => {
                let result = ToolResult::new(id(*number), *outcome, &text.to_string());
                Some(ring.after(rules, now, &result.by(named(*agent))))
            }
            Happening::Invalid => {
                let failure = ValidationFailure::new(ValidationKind::WrongType, "e", "r", "w");
                Some(ring.invalid(rules, now, &failure))
            }
            Happening::Spoke => {
                ring.spoke(now);
                None
            }
            Happening::OnlySpoke(agent) => {
                let words = fingerprint_words(["again", "and on", ""][usize::from(*agent)]);
                Some(ring.only_spoke(rules, now, &named(*agent), words))
            }
            Happening::Life => {
                ring.life(now);
                None
            }
            Happening::Context(permille) => {
                ring.context(*permille);
                None
            }
        }
    }

    fn stored(ring: &CallRing) -> String {
        serde_json::to_string(ring).unwrap()
    }

    proptest! {
        #[test]
        fn a_ring_that_was_stored_and_read_back_judges_the_same(
            rules in rules(),
            happenings in prop::collection::vec(happening(), 0..120),
        ) {
            let mut kept = CallRing::new();
            let mut restored = CallRing::new();
            for (at, what) in (0..).zip(&happenings) {
                let wanted = play(&mut kept, &rules, at, what);
                prop_assert_eq!(play(&mut restored, &rules, at, what), wanted);
                restored = serde_json::from_str(&stored(&restored)).unwrap();
                prop_assert_eq!(&restored, &kept);
            }
            prop_assert_eq!(kept.status(), restored.status());
            prop_assert!(stored(&kept).len() <= CallRing::MAX_STATE);
        }

        #[test]
        fn refusals_and_totals_never_shrink(
            rules in rules(),
            happenings in prop::collection::vec(happening(), 0..120),
        ) {
            let mut ring = CallRing::new();
            let mut earlier = ring.status();
            for (at, what) in (0..).zip(&happenings) {
                play(&mut ring, &rules, at, what);
                let now = ring.status();
                prop_assert!(now.refusals >= earlier.refusals);
                prop_assert!(now.failures >= earlier.failures);
                prop_assert!(now.validation_failures >= earlier.validation_failures);
                prop_assert!(now.context_percent >= earlier.context_percent);
                let by_tool: u64 = now.tools.values().sum();
                prop_assert_eq!(by_tool + now.other_tools, now.calls);
                earlier = now;
            }
        }

        #[test]
        fn more_repeats_never_lower_the_rung(
            rules in rules(),
            earlier in prop::collection::vec(happening(), 0..40),
            answered in any::<bool>(),
        ) {
            let mut ring = CallRing::new();
            for (at, what) in (0..).zip(&earlier) {
                play(&mut ring, &rules, at, what);
            }
            // Whatever round is open, another call closes it.
            let other = ToolCall::new(CallId::new("other"), "other", &json!({}), &rules);
            ring.before(&rules, Moment::default(), &other);
            let mut lowest = Rung::Pass;
            for number in 0..20 {
                let id = CallId::new(format!("new{number}"));
                let call = ToolCall::new(id.clone(), "repeated", &json!({}), &rules);
                let verdict = ring.before(&rules, Moment::default(), &call);
                prop_assert!(verdict.rung() >= lowest, "{:?} after {:?}", verdict, lowest);
                lowest = verdict.rung();
                if answered && verdict.may_run() {
                    let result = ToolResult::new(id, ToolOutcome::Ok, &number.to_string());
                    ring.after(&rules, Moment::default(), &result);
                }
            }
            prop_assert_eq!(lowest, Rung::Halt);
        }

        #[test]
        fn key_order_and_free_text_never_change_a_verdict(
            rules in rules(),
            members in prop::collection::btree_map("[a-e]", 0..4_i32, 0..5),
            orders in prop::collection::vec((any::<prop::sample::Index>(), "\\PC{0,8}"), 1..12),
        ) {
            let (mut plain, mut shuffled) = (CallRing::new(), CallRing::new());
            for (number, (index, words)) in (0..).zip(&orders) {
                let id = CallId::new(number.to_string());
                let args = json!(members);
                let mut entries: Vec<(String, Value)> =
                    members.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
                if !entries.is_empty() {
                    let by = index.index(entries.len());
                    entries.rotate_left(by);
                }
                entries.insert(0, ("description".into(), json!(words)));
                entries.push(("absent".into(), Value::Null));
                let other = Value::Object(entries.into_iter().collect::<Map<_, _>>());
                let now = Moment::from_millis(number);
                let one = plain.before(&rules, now, &ToolCall::new(id.clone(), "t", &args, &rules));
                let two = shuffled.before(&rules, now, &ToolCall::new(id.clone(), "t", &other, &rules));
                prop_assert_eq!(one, two);
                let result = ToolResult::new(id, ToolOutcome::Ok, "r");
                prop_assert_eq!(
                    plain.after(&rules, now, &result),
                    shuffled.after(&rules, now, &result)
                );
            }
        }

        #[test]
        fn any_words_at_all_are_taken(
            words in prop::collection::vec(("\\PC{0,300}", "\\PC{0,300}", any::<u64>()), 0..40),
        ) {
            let rules = Policy::default().calls.clone();
            let mut ring = CallRing::new();
            for (one, two, at) in &words {
                let now = Moment::from_millis(*at);
                let call = ToolCall::new(CallId::new(two), one, &json!({ one: two }), &rules);
                ring.before(&rules, now, &call.by(SubAgent::new(one)));
                ring.after(&rules, now, &ToolResult::new(CallId::new(two), ToolOutcome::Tool, two));
                ring.stalled(now, flyball_core::Millis::new(1));
            }
            prop_assert!(stored(&ring).len() <= CallRing::MAX_STATE);
        }
    }
}
