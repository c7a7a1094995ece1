//! Performing a remedy (C3): where tasks stand after it, what is written down, what is told.
//! Changes the ring's memory and nothing else; the orders are the caller's.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{AppliedRemedy, ContextEntry, Detection, Pattern, Remedy, Standing, TaskRing, texts};
use crate::id::TaskId;
use crate::moment::Moment;
use crate::policy::{ForceNextMarks, TaskRules};

/// What a remedy came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Tasks that stand somewhere else now.
    pub standing_changes: Vec<(TaskId, Standing)>,
    /// What is to be written down for good.
    pub entries: Vec<ContextEntry>,
    /// What the next briefing says.
    pub briefing: Option<String>,
    /// Whether a human has to be told.
    pub notify: bool,
}

impl TaskRing {
    /// Performs the remedy of a detection, remembers it, and says what follows. A detection without
    /// a due remedy changes nothing. `entry_id` names the first context entry.
    pub fn apply(
        &mut self,
        rules: &TaskRules,
        now: Moment,
        found: &Detection,
        entry_id: impl Into<String>,
    ) -> Applied {
        let Some(remedy) = found.remedy else { return Applied::default() };
        for task in concerned(found) {
            let applied = AppliedRemedy {
                attempts: self.total(task),
                task: task.clone(),
                pattern: found.pattern,
                remedy,
                at: now,
                blockers: found.blockers.clone(),
            };
            self.remember(applied);
        }
        let standing_changes: Vec<_> = match standing_after(remedy, found.pattern, rules) {
            None => Vec::new(),
            Some(standing) => concerned(found).map(|task| (task.clone(), standing)).collect(),
        };
        for (task, standing) in &standing_changes {
            self.set_standing(task.clone(), *standing);
        }
        let (entries, briefing) = written(found, remedy, now, entry_id.into());
        let notify = remedy == Remedy::Escalate;
        Applied { standing_changes, entries, briefing: Some(briefing), notify }
    }
}

/// The tasks a remedy is for.
fn concerned(found: &Detection) -> impl Iterator<Item = &TaskId> {
    let alone = found.tasks_in_cycle.is_empty().then_some(&found.task);
    found.tasks_in_cycle.iter().chain(alone)
}

fn standing_after(remedy: Remedy, pattern: Pattern, rules: &TaskRules) -> Option<Standing> {
    match remedy {
        Remedy::Advise | Remedy::UnblockAuthority => None,
        Remedy::Escalate => Some(Standing::Escalated),
        // What is done stays done.
        Remedy::ForceNext if pattern == Pattern::CompletedTaskRevisit => None,
        Remedy::ForceNext => Some(match rules.force_next_marks {
            ForceNextMarks::SetAside => Standing::SetAside,
            ForceNextMarks::Done => Standing::ForcedDone,
        }),
    }
}

/// The context entries, and the text for the next briefing.
fn written(
    found: &Detection,
    remedy: Remedy,
    now: Moment,
    id: String,
) -> (Vec<ContextEntry>, String) {
    let entry = |id: String, topic: &str, content: &str| ContextEntry {
        id,
        at: now,
        kind: "decision".into(),
        topic: topic.into(),
        content: content.into(),
        related_tasks: concerned(found).cloned().collect(),
        confidence: confidence(found.pattern),
        evidence: found.evidence.clone(),
    };
    match remedy {
        Remedy::Advise => {
            let text = texts::advice(found);
            (Vec::from([entry(id, "loop_recovery", &text)]), text)
        }
        Remedy::UnblockAuthority => {
            let text = texts::unblock_authority(found);
            (Vec::from([entry(id, "unblock_authority", &text)]), text)
        }
        Remedy::Escalate => {
            let escalation = entry(id, "loop_escalation", &texts::escalation(found));
            (Vec::from([escalation]), texts::hands_off(found))
        }
        Remedy::ForceNext => {
            let text = texts::directive(found);
            let directive = entry(format!("{id}-directive"), "loop_recovery_directive", &text);
            let recovery = entry(id, "loop_recovery", &texts::recovery(found));
            (Vec::from([recovery, directive]), text)
        }
    }
}

/// How sure the pattern is a loop, in percent: the more has to coincide, the surer.
const fn confidence(pattern: Pattern) -> u8 {
    match pattern {
        Pattern::CompletedTaskRevisit => 95,
        Pattern::BlockedTaskSpin => 90,
        Pattern::TaskCycle => 85,
        Pattern::NoProgressRepeat => 80,
    }
}
