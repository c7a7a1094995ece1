//! Performing a remedy (C3): where tasks stand after it, what is written down, what is told.
//! Changes the ring's memory and nothing else; the orders are the caller's.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::texts::{self, About};
use super::{AppliedRemedy, ContextEntry, Detection, Pattern, Remedy, Standing, TaskRing};
use crate::id::TaskId;
use crate::moment::Moment;
use crate::policy::{ForceNextMarks, TaskRules};

/// The most remedies one briefing repeats.
const DIRECTIVES_SHOWN: usize = 12;

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
            let before = self
                .remedies_for(task, found.pattern)
                .find(|one| one.remedy == remedy && one.blockers == found.blockers);
            let applied = AppliedRemedy {
                times: before.map_or(1, |one| one.times.saturating_add(1)),
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

/// A task as a briefing sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStage {
    /// It is not finished.
    Open,
    /// It has passed.
    Done,
}

impl TaskRing {
    /// What the remedies that hold say to an iteration at this task (C3). A remedy holds until its
    /// task is done, its standing changes or a later remedy takes its place. `stage` tells of a
    /// task how far it is, and nothing of one that is of no interest any more.
    pub fn directives(
        &self,
        rules: &TaskRules,
        task: Option<&TaskId>,
        stage: impl Fn(&TaskId) -> Option<TaskStage>,
    ) -> Vec<String> {
        let latest = self.remedies().filter(|one| self.last_remedy(&one.task) == Some(*one));
        let holding = latest.filter(|one| {
            stage(&one.task).is_some_and(|stage| self.holds(one, stage)) && concerns(one, task)
        });
        holding.map(|one| holding_text(one, rules)).take(DIRECTIVES_SHOWN).collect()
    }

    fn holds(&self, one: &AppliedRemedy, stage: TaskStage) -> bool {
        let standing = self.standing(&one.task);
        if one.pattern == Pattern::CompletedTaskRevisit {
            return stage == TaskStage::Done;
        }
        let stands = match one.remedy {
            Remedy::Advise | Remedy::UnblockAuthority => {
                matches!(standing, Standing::Open | Standing::Blocked)
            }
            Remedy::ForceNext => matches!(standing, Standing::SetAside | Standing::ForcedDone),
            Remedy::Escalate => standing == Standing::Escalated,
        };
        stands && stage == TaskStage::Open
    }
}

/// Advice and authority are for the task itself; to leave one alone is for all others too.
fn concerns(one: &AppliedRemedy, task: Option<&TaskId>) -> bool {
    match one.remedy {
        Remedy::Advise | Remedy::UnblockAuthority => task == Some(&one.task),
        Remedy::ForceNext | Remedy::Escalate => true,
    }
}

fn holding_text(one: &AppliedRemedy, rules: &TaskRules) -> String {
    let about = &About::applied(one, rules);
    match one.remedy {
        Remedy::Advise => texts::advice(about),
        Remedy::UnblockAuthority => texts::unblock_authority(about),
        Remedy::ForceNext => texts::directive(about),
        Remedy::Escalate => texts::hands_off(about),
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
        // What is done stays done.
        Remedy::ForceNext | Remedy::Escalate if pattern == Pattern::CompletedTaskRevisit => None,
        Remedy::Escalate => Some(Standing::Escalated),
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
    let about = &About::found(found);
    match remedy {
        Remedy::Advise => {
            let text = texts::advice(about);
            (Vec::from([entry(id, "loop_recovery", &text)]), text)
        }
        Remedy::UnblockAuthority => {
            let text = texts::unblock_authority(about);
            (Vec::from([entry(id, "unblock_authority", &text)]), text)
        }
        Remedy::Escalate => {
            let escalation = entry(id, "loop_escalation", &texts::escalation(about));
            (Vec::from([escalation]), texts::hands_off(about))
        }
        Remedy::ForceNext => {
            let text = texts::directive(about);
            let directive = entry(format!("{id}-directive"), "loop_recovery_directive", &text);
            let recovery = entry(id, "loop_recovery", &texts::recovery(about));
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
