//! What each character does in one session.

mod calls;
mod door;

use std::collections::{BTreeSet, VecDeque};

use flyball_core::call::{ToolCall, ToolOutcome, ToolResult, ValidationFailure, ValidationKind};
use flyball_core::effect::Force;
use flyball_core::event::{AgentFact, ExitHow, Spend};
use flyball_core::policy::Policy;
use flyball_core::{CallId, Millis, Moment};
use serde_json::json;

use super::persona::Persona;
use super::repo::{Deed, Repo, Step, TESTS};
use super::rng::Rng;

/// One thing an agent does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Shows or says something.
    Fact(AgentFact),
    /// Changes the repository.
    Deed(Deed),
    /// Takes the next step of a guarded loop of its own.
    Build,
    /// Asks whether it may stop, and waits for the answer.
    AskToStop,
    /// Ends.
    Exit(ExitHow, Words),
}

/// An agent's last words.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// These.
    Plain(String),
    /// COMPLETE when all stories are really finished, else nothing.
    Honest,
}

/// What an agent does, each act after a pause in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) acts: VecDeque<(u64, Act)>,
    /// Done over and over when the acts are done.
    pub(crate) tail: Vec<(u64, Act)>,
    /// The least force it obeys; none when nothing ends it.
    pub(crate) obeys: Option<Force>,
}

/// What is known when a session begins.
pub(crate) struct Stage<'a> {
    pub(crate) persona: Persona,
    pub(crate) policy: &'a Policy,
    pub(crate) repo: &'a Repo,
    pub(crate) wall: Moment,
    /// How many sessions there were before.
    pub(crate) session: u64,
    /// A number that stays the same for the whole run.
    pub(crate) quirk: u64,
    /// Which agent was started.
    pub(crate) agent: u32,
}

/// The script of a session.
#[expect(clippy::wildcard_enum_match_arm, reason = "everyone else obeys")]
pub(crate) fn script(stage: &Stage<'_>, rng: &mut Rng) -> Script {
    let mut writer =
        Writer { stage, rng, acts: VecDeque::new(), tail: Vec::new(), calls: 0, asked: 0 };
    writer.write();
    let Writer { acts, tail, .. } = writer;
    let obeys = match stage.persona {
        Persona::IgnoringStop => Some(Force::Kill),
        Persona::Undead => None,
        _ => Some(if stage.quirk.is_multiple_of(4) { Force::Terminate } else { Force::Interrupt }),
    };
    Script { acts, tail, obeys }
}

struct Writer<'a, 'b> {
    stage: &'a Stage<'a>,
    rng: &'b mut Rng,
    acts: VecDeque<(u64, Act)>,
    tail: Vec<(u64, Act)>,
    calls: u64,
    asked: u64,
}

#[expect(clippy::wildcard_enum_match_arm, reason = "each function knows its own characters")]
impl Writer<'_, '_> {
    fn write(&mut self) {
        if self.calling() {
            return;
        }
        match self.stage.persona {
            Persona::Honest | Persona::HonestWithReview => self.honest(),
            Persona::Chatty | Persona::IgnoringStop | Persona::Undead => {
                self.tail = Vec::from([(self.lively(), Act::Fact(AgentFact::ShowedLife))]);
            }
            Persona::Silent | Persona::NotStartable => {}
            Persona::Looping => self.looping(),
            Persona::Nonsense => self.nonsense(),
            Persona::ToolFailer => self.tool_failer(),
            Persona::TokenSpender => self.spender(4_500, 0),
            Persona::MoneySpender => self.spender(0, 400_000),
            Persona::Limited
            | Persona::LimitedBlindly
            | Persona::LimitedForLong
            | Persona::Unreachable
            | Persona::Unauthorised
            | Persona::SelfStopped => self.troubled(),
            Persona::AskingLooper => self.asking_looper(),
            _ => self.working(),
        }
    }

    /// Characters that come to an end by themselves.
    fn working(&mut self) {
        let session = self.stage.session;
        match self.stage.persona {
            Persona::Idle | Persona::Hopeless => self.says(""),
            Persona::Crashing => {
                let how = self.rng.pick(ExitHow::Code(1), &[ExitHow::Signal(11)]);
                self.exit(how, Words::Plain(String::from("panic")));
            }
            Persona::Lying | Persona::Trusted => {
                self.commits(BTreeSet::new(), "<promise>COMPLETE</promise>");
            }
            Persona::FlipFlopping => {
                let version = if session.is_multiple_of(2) { 1_000 } else { 1_001 };
                self.deed(Deed::Switch(version));
                self.deed(Deed::Commit(String::from("flip")));
                self.says("done");
            }
            Persona::Blocker => self.says("<promise>BLOCKED:no database</promise>"),
            Persona::TaskCycler => {
                self.says(&format!("<promise>BLOCKED:reason {session}</promise>"));
            }
            Persona::Decider => self.says("<promise>DECIDE:A or B?</promise>"),
            Persona::SelfApprover => self.cheats(Deed::Cheat),
            Persona::StoryRemover => {
                let deed = if self.rng.chance(50) { Deed::Remove } else { Deed::Garble };
                self.cheats(deed);
            }
            Persona::Tamperer => {
                self.deed(Deed::Weaken);
                self.honest();
            }
            Persona::RedMaker => {
                let reds = (0..=self.rng.below(5)).map(|_| self.rng.below(TESTS)).collect();
                self.commits(reds, "");
            }
            Persona::Regressor => self.commits((0..=session.min(TESTS - 2)).collect(), ""),
            Persona::Thrasher => {
                let reds = (0..4).map(|number| (session + 1 + number) % TESTS).collect();
                self.commits(reds, "");
            }
            Persona::Improver => self.improver(),
            Persona::Revisiter => self.revisiter(),
            Persona::StoryByStory => self.story_by_story(),
            Persona::Uncoverer => self.uncoverer(),
            Persona::Rescued if self.stage.agent > 0 => self.honest(),
            Persona::Rescued => {
                self.exit(ExitHow::Code(1), Words::Plain(String::from("No space left on device")));
            }
            Persona::Unmetered => self.unmetered(),
            Persona::SlowSteady => self.commits(BTreeSet::new(), "more to come"),
            Persona::Sleeper => self.sleeper(),
            Persona::StopsRed | Persona::StopsUncommitted | Persona::StopsAgain => self.stopper(),
            _ => self.annotated(),
        }
    }

    /// Honest characters that also show something worth a notice.
    fn annotated(&mut self) {
        match self.stage.persona {
            Persona::ContextFiller => {
                for permille in [400, 520, 510, 770, 930] {
                    self.fact(AgentFact::FilledContext { permille });
                }
            }
            Persona::LargeResponder => {
                let (call, mut result) = self.call("big", ToolOutcome::Ok);
                result.chars = 300_000;
                self.fact(AgentFact::CalledTool(call));
                self.fact(AgentFact::ToolReturned(result));
            }
            Persona::LoopBuilder => {
                for _ in 0..self.rng.between(5, 60) {
                    let pause = self.rng.between(1, 50);
                    self.acts.push_back((pause, Act::Build));
                }
            }
            _ => {}
        }
        self.honest();
    }

    /// Uses a tool or two, does the work, makes its legal step, commits, tells what it cost.
    fn honest(&mut self) {
        for number in 0..self.rng.between(0, 3) {
            self.calls(&format!("read {number}"), ToolOutcome::Ok);
        }
        self.deed(Deed::Work(BTreeSet::new()));
        let step = if self.rng.chance(25) { Step::Back } else { Step::Forward };
        self.deed(Deed::Step(step));
        self.deed(Deed::Commit(String::from("work")));
        let (input_tokens, output_tokens) = (self.rng.below(5_000), self.rng.below(500));
        self.fact(AgentFact::Spent(Spend { input_tokens, output_tokens, cost_micro_usd: 9 }));
        self.exit(ExitHow::Code(0), Words::Honest);
    }

    fn improver(&mut self) {
        let mut reds = self.stage.repo.work.reds.clone();
        reds.pop_first();
        if reds.is_empty() {
            self.honest();
        } else {
            self.commits(reds, "");
        }
    }

    /// The gate stays red until the last story is done.
    fn story_by_story(&mut self) {
        let left = self.stage.repo.stories().len().saturating_sub(self.stage.repo.finished.len());
        let reds = if left > 1 { BTreeSet::from([7]) } else { BTreeSet::new() };
        self.deed(Deed::Work(reds));
        self.deed(Deed::Step(Step::Forward));
        self.deed(Deed::Commit(String::from("one story")));
        self.exit(ExitHow::Code(0), Words::Honest);
    }

    /// Each error hides another one, three times.
    fn uncoverer(&mut self) {
        match self.stage.repo.work.reds.first() {
            Some(&number) if number < 3 => self.commits(BTreeSet::from([number + 1]), ""),
            Some(_) | None => self.honest(),
        }
    }

    /// Prints a lot, says nothing of tokens.
    fn unmetered(&mut self) {
        self.deed(Deed::Work(BTreeSet::new()));
        self.deed(Deed::Commit(String::from("work")));
        let (bytes, cost_micro_usd) = (self.rng.between(4_000, 40_000), 0);
        self.fact(AgentFact::Printed { bytes, cost_micro_usd });
        self.says("more to come");
    }

    fn revisiter(&mut self) {
        match self.stage.repo.finished.first() {
            Some(done) if self.stage.session < 12 => {
                self.deed(Deed::Work(BTreeSet::new()));
                self.deed(Deed::Commit(format!("rework {done}")));
                self.says("");
            }
            Some(_) | None => self.honest(),
        }
    }

    fn sleeper(&mut self) {
        let pause = self.lively();
        let whole = self.stage.policy.limits.iteration_timeout.get() / 2;
        for _ in 0..whole / pause.max(1) {
            self.acts.push_back((pause, Act::Fact(AgentFact::ShowedLife)));
        }
        self.commits(BTreeSet::new(), "");
    }

    fn looping(&mut self) {
        let pause = self.lively();
        for number in 0..=self.stage.quirk % 5 {
            let (call, result) = self.call(&format!("step {number}"), ToolOutcome::Ok);
            self.tail.push((pause, Act::Fact(AgentFact::CalledTool(call))));
            self.tail.push((1, Act::Fact(AgentFact::ToolReturned(result))));
        }
    }

    fn nonsense(&mut self) {
        let kind = ValidationKind::BadStreamLine;
        let failure = ValidationFailure::new(kind, "an event", "%&!", "no JSON");
        for _ in 0..5 {
            self.fact(AgentFact::SpokeNonsense(failure.clone()));
        }
        self.says("<promise>BLOCKED:</promise>");
    }

    fn tool_failer(&mut self) {
        for number in 0..8 {
            let (call, result) = self.call(&format!("try {number}"), ToolOutcome::Tool);
            let gone = ToolResult::new(result.id, result.outcome, "the server is gone");
            self.fact(AgentFact::CalledTool(call));
            self.fact(AgentFact::ToolReturned(gone));
        }
        self.says("");
    }

    fn spender(&mut self, tokens: u64, cost: u64) {
        self.deed(Deed::Work(BTreeSet::new()));
        self.deed(Deed::Commit(String::from("work")));
        let spend = |rng: &mut Rng| Spend {
            input_tokens: rng.below(tokens + 1),
            output_tokens: tokens / 3,
            cost_micro_usd: rng.below(cost + 1) + cost / 2,
        };
        let pause = self.lively();
        for _ in 0..3 {
            let fact = AgentFact::Spent(spend(self.rng));
            self.tail.push((pause, Act::Fact(fact)));
        }
    }

    /// Characters that cannot work, and some that can every other time.
    fn troubled(&mut self) {
        let works_now = !self.stage.session.is_multiple_of(2);
        let message = String::from("sorry");
        let until = |secs: u64| Some(self.stage.wall.plus(Millis::from_secs(secs)));
        let fact = match self.stage.persona {
            Persona::Limited | Persona::LimitedBlindly if works_now => return self.honest(),
            Persona::Limited => {
                let resets_at = until(60 + self.stage.quirk % 400);
                AgentFact::HitLimit { resets_at, message }
            }
            Persona::LimitedForLong => AgentFact::HitLimit { resets_at: until(30_000), message },
            Persona::Unreachable => AgentFact::LostModel { message },
            Persona::Unauthorised => AgentFact::RefusedCredentials { message },
            Persona::SelfStopped => AgentFact::StoppedItself { message },
            _ => AgentFact::HitLimit { resets_at: None, message },
        };
        self.fact(fact);
        // Some only wait until they are stopped.
        if self.stage.persona == Persona::SelfStopped || self.rng.chance(60) {
            self.exit(ExitHow::Code(1), Words::Plain(String::new()));
        }
    }

    fn cheats(&mut self, deed: Deed) {
        self.deed(deed);
        self.deed(Deed::Commit(String::from("all done")));
        self.says("<promise>COMPLETE</promise>");
    }

    fn commits(&mut self, reds: BTreeSet<u64>, words: &str) {
        self.deed(Deed::Work(reds));
        self.deed(Deed::Commit(String::from("work")));
        self.says(words);
    }

    fn says(&mut self, words: &str) {
        self.exit(ExitHow::Code(0), Words::Plain(String::from(words)));
    }

    fn exit(&mut self, how: ExitHow, words: Words) {
        self.push(Act::Exit(how, words));
    }

    fn deed(&mut self, deed: Deed) {
        self.push(Act::Deed(deed));
    }

    fn fact(&mut self, fact: AgentFact) {
        self.push(Act::Fact(fact));
    }

    fn push(&mut self, act: Act) {
        let pause = self.rng.between(500, 5_000);
        self.acts.push_back((pause, act));
    }

    fn calls(&mut self, what: &str, outcome: ToolOutcome) {
        let (call, result) = self.call(what, outcome);
        self.fact(AgentFact::CalledTool(call));
        self.fact(AgentFact::ToolReturned(result));
    }

    fn call(&mut self, what: &str, outcome: ToolOutcome) -> (ToolCall, ToolResult) {
        self.calls += 1;
        let id = CallId::new(format!("{}-{}", self.stage.session, self.calls));
        let call =
            ToolCall::new(id.clone(), "tool", &json!({ "do": what }), &self.stage.policy.calls);
        (call, ToolResult::new(id, outcome, what))
    }

    /// A pause short enough not to look like a stall.
    fn lively(&self) -> u64 {
        let limits = &self.stage.policy.limits;
        let whole = limits.iteration_timeout.get() / 12;
        if limits.stall_after.is_zero() {
            whole
        } else {
            whole.min(limits.stall_after.get() * 2 / 3)
        }
    }
}
