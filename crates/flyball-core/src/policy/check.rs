//! What makes a rule senseless, one named error each.

use super::Rules;

/// A limit that makes no sense. The text names the setting as it stands in `flyball.toml`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// 0 would mean "always" or "never" by accident.
    #[error("`{setting}` must be at least {least}, not {value}")]
    TooSmall {
        /// The setting.
        setting: &'static str,
        /// What it may not be below.
        least: u64,
        /// What it was.
        value: u64,
    },
    /// Above what the rule can use.
    #[error("`{setting}` must be at most {most}, not {value}")]
    TooLarge {
        /// The setting.
        setting: &'static str,
        /// What it may not be above.
        most: u64,
        /// What it was.
        value: u64,
    },
    /// The refusal would come before the nudge.
    #[error(
        "`calls.refuse_after` ({refuse_after}) must not be below `calls.nudge_after` ({nudge_after})"
    )]
    RefuseBeforeNudge {
        /// The nudge.
        nudge_after: u32,
        /// The refusal.
        refuse_after: u32,
    },
    /// Leaving a task before the pattern that leaves it can be seen.
    #[error(
        "`tasks.max_attempts_before_force_next` ({force_next}) must not be below \
         `tasks.max_attempts` ({attempts})"
    )]
    ForceNextBeforePattern {
        /// `max_attempts`.
        attempts: u32,
        /// `max_attempts_before_force_next`.
        force_next: u32,
    },
    /// Negative, infinite or not a number.
    #[error("`limits.cost_usd` must be a sum of money, 0 or more, not {value}")]
    BadMoney {
        /// What it was.
        value: f64,
    },
}

/// The first senseless value in the rules.
pub(super) fn check(rules: &Rules) -> Result<(), PolicyError> {
    let Rules { limits, calls, iterations, tasks, review, gates } = rules;
    let at_least_one = [
        ("limits.stuck", limits.stuck.into()),
        ("limits.iteration_timeout", limits.iteration_timeout.get()),
        ("limits.wait", limits.wait.get()),
        ("limits.stop_grace", limits.stop_grace.get()),
        ("calls.refuse_after", calls.refuse_after.into()),
        ("calls.refuse_after_changing", calls.refuse_after_changing.into()),
        ("calls.max_refusals", calls.max_refusals.into()),
        ("calls.max_validation_failures", calls.max_validation_failures.into()),
        ("calls.max_consecutive_failures", calls.max_consecutive_failures.into()),
        ("calls.large_response", calls.large_response),
        ("iterations.circuit_breaker", iterations.circuit_breaker.into()),
        ("iterations.thrashing", iterations.thrashing.into()),
        ("iterations.gate_refusals", iterations.gate_refusals.into()),
        ("tasks.attempt_window", tasks.attempt_window.get()),
        ("review.cap", review.cap.into()),
        ("gates.stop_refusals", gates.stop_refusals.into()),
    ];
    for (setting, value) in at_least_one {
        least(setting, value, 1)?;
    }
    // One call is no repetition, two scores are no trend, and one attempt is no pattern.
    least("calls.nudge_after", calls.nudge_after.into(), 2)?;
    least("calls.nudge_after_success", calls.nudge_after_success.into(), 2)?;
    least("iterations.regression_window", iterations.regression_window.into(), 2)?;
    least("tasks.max_attempts", tasks.max_attempts.into(), 2)?;
    // The state keeps this many scores and attempts, and no more.
    most("iterations.regression_window", iterations.regression_window.into(), 64)?;
    most("tasks.max_attempts", tasks.max_attempts.into(), 64)?;
    most("tasks.max_attempts_before_force_next", tasks.max_attempts_before_force_next.into(), 64)?;
    if calls.refuse_after < calls.nudge_after {
        let (nudge_after, refuse_after) = (calls.nudge_after, calls.refuse_after);
        return Err(PolicyError::RefuseBeforeNudge { nudge_after, refuse_after });
    }
    if tasks.max_attempts_before_force_next < tasks.max_attempts {
        let (attempts, force_next) = (tasks.max_attempts, tasks.max_attempts_before_force_next);
        return Err(PolicyError::ForceNextBeforePattern { attempts, force_next });
    }
    if !limits.cost_usd.is_finite() || limits.cost_usd < 0.0 {
        return Err(PolicyError::BadMoney { value: limits.cost_usd });
    }
    Ok(())
}

fn least(setting: &'static str, value: u64, least: u64) -> Result<(), PolicyError> {
    if value < least {
        return Err(PolicyError::TooSmall { setting, least, value });
    }
    Ok(())
}

fn most(setting: &'static str, value: u64, most: u64) -> Result<(), PolicyError> {
    if value > most {
        return Err(PolicyError::TooLarge { setting, most, value });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;
    use crate::moment::Millis;
    use crate::policy::Policy;

    type Spoil = fn(&mut Rules);

    #[test]
    fn the_defaults_are_sensible() {
        assert_eq!(Policy::new(Policy::default().into_rules()), Ok(Policy::default()));
    }

    #[test]
    fn every_senseless_value_is_an_error_that_names_its_setting() {
        let cases: &[(&str, Spoil)] = &[
            ("limits.stuck", |r| r.limits.stuck = 0),
            ("limits.iteration_timeout", |r| r.limits.iteration_timeout = Millis::ZERO),
            ("limits.wait", |r| r.limits.wait = Millis::ZERO),
            ("limits.stop_grace", |r| r.limits.stop_grace = Millis::ZERO),
            ("limits.cost_usd", |r| r.limits.cost_usd = -0.01),
            ("limits.cost_usd", |r| r.limits.cost_usd = f64::NAN),
            ("limits.cost_usd", |r| r.limits.cost_usd = f64::INFINITY),
            ("calls.nudge_after", |r| r.calls.nudge_after = 1),
            ("calls.nudge_after_success", |r| r.calls.nudge_after_success = 1),
            ("calls.refuse_after", |r| r.calls.refuse_after = 0),
            ("calls.refuse_after_changing", |r| r.calls.refuse_after_changing = 0),
            ("calls.refuse_after", |r| (r.calls.nudge_after, r.calls.refuse_after) = (4, 3)),
            ("calls.max_refusals", |r| r.calls.max_refusals = 0),
            ("calls.max_validation_failures", |r| r.calls.max_validation_failures = 0),
            ("calls.max_consecutive_failures", |r| r.calls.max_consecutive_failures = 0),
            ("calls.large_response", |r| r.calls.large_response = 0),
            ("iterations.circuit_breaker", |r| r.iterations.circuit_breaker = 0),
            ("iterations.regression_window", |r| r.iterations.regression_window = 0),
            ("iterations.regression_window", |r| r.iterations.regression_window = 65),
            ("iterations.thrashing", |r| r.iterations.thrashing = 0),
            ("iterations.gate_refusals", |r| r.iterations.gate_refusals = 0),
            ("tasks.max_attempts", |r| r.tasks.max_attempts = 1),
            ("tasks.max_attempts_before_force_next", |r| {
                r.tasks.max_attempts_before_force_next = 2;
            }),
            ("tasks.attempt_window", |r| r.tasks.attempt_window = Millis::ZERO),
            ("review.cap", |r| r.review.cap = 0),
            ("gates.stop_refusals", |r| r.gates.stop_refusals = 0),
        ];
        for (setting, spoil) in cases {
            let mut rules = Policy::default().into_rules();
            spoil(&mut rules);
            let error = Policy::new(rules).expect_err(setting).to_string();
            assert!(error.contains(setting), "{error} should name {setting}");
        }
    }

    #[test]
    fn no_limit_is_written_as_zero_where_the_rules_allow_it() {
        let mut rules = Policy::default().into_rules();
        rules.limits.iterations = 0;
        rules.limits.runtime = Millis::ZERO;
        rules.limits.stall_after = Millis::ZERO;
        assert!(Policy::new(rules).is_ok());
    }

    #[test]
    fn an_unchecked_policy_cannot_be_read_back_either() {
        let mut json = serde_json::to_value(Policy::default()).unwrap();
        json["limits"]["stuck"] = 0.into();
        assert!(serde_json::from_value::<Policy>(json).is_err());
    }
}
