//! The agent at its draft: asked, listened to, and asked again while there are faults it can mend.

use std::path::Path;

use flyball_core::Millis;
use flyball_core::event::{ExitHow, Spend};
use flyball_core::tasklist::draft::{self, Draft, TRIES_MAX, Try};

use super::PlanArgs;
use super::scratch::Scratch;
use crate::config::Config;
use crate::driver::{DraftRequest, Drafted};
use crate::error::CliError;
use crate::terminal::{self, Paint, PlainText};
use crate::view::words::line;

/// The most reasons that are named when nothing could be used.
const REASONS_MAX: usize = 10;
/// The most of an agent's words that are shown with a refusal.
const WORDS_MAX: usize = 300;

/// What is to be drafted, by whom.
pub(super) struct Drafting<'a> {
    pub(super) root: &'a Path,
    pub(super) config: &'a Config,
    pub(super) prompt: &'a str,
}

/// What came of all tries.
pub(super) struct Came {
    pub(super) draft: Draft,
    pub(super) prd: Option<String>,
    pub(super) tries: usize,
    pub(super) spend: Spend,
    pub(super) took: Millis,
}

impl Drafting<'_> {
    fn request<'a>(&'a self, prompt: &'a str) -> DraftRequest<'a> {
        DraftRequest { dir: self.root, config: self.config, prompt }
    }

    /// Refuses before anything is written when the agent cannot work.
    pub(super) fn check(&self) -> Result<(), CliError> {
        self.request(self.prompt).check(self.root)
    }

    pub(super) fn agent_name(&self) -> String {
        self.request(self.prompt).agent_name()
    }

    /// Has the agent draft until there is nothing to mend, or it was asked often enough.
    pub(super) fn come_to(
        &self,
        scratch: &mut Scratch<'_>,
        mut listener: Listener,
    ) -> Result<Came, CliError> {
        let (mut tries, mut prd): (Vec<Try>, _) = (Vec::new(), None);
        let (mut spend, mut took) = (Spend::default(), Millis::ZERO);
        let mut prompt = self.prompt.to_owned();
        listener.note(&format!("{} drafts stories …", self.agent_name()));
        loop {
            let drafted = self.request(&prompt).draft(&mut |piece| listener.hear(piece));
            listener.end();
            let drafted = drafted?;
            add(&mut spend, drafted.spend);
            took = took.plus(drafted.took);
            let (stories, described) = scratch.found(&drafted.said);
            prd = described.or(prd);
            let judged = stories.as_deref().map_or(Err(draft::DraftError::NoStories), draft::judge);
            // One that died said why; asked again it would only cost the same again.
            let is_over = stories.is_none() && drafted.how != ExitHow::Code(0);
            tries.push(judged);
            let wrong = if is_over { None } else { draft::what_was_wrong(&tries) };
            let Some(wrong) = wrong else {
                let count = tries.len();
                let draft = chosen(tries, &drafted)?;
                return Ok(Came { draft, prd, tries: count, spend, took });
            };
            listener.send_back(&wrong, tries.len());
            if let Some(stories) = &stories {
                scratch.leave(stories);
            }
            prompt = self.again(scratch, &wrong, stories.as_deref());
        }
    }

    /// What the agent is told when its draft comes back.
    fn again(&self, scratch: &Scratch<'_>, wrong: &[String], stories: Option<&str>) -> String {
        let faults: Vec<String> = wrong.iter().map(|why| format!("- {}", line(why, 400))).collect();
        let kept = if stories.is_some() {
            "That draft is there again. Mend what is wrong in it and keep the other stories as they \
             are"
        } else {
            "Write it now"
        };
        format!(
            "{}\n## Your draft came back\n\nA draft was made and checked before. What was wrong:\n\n\
             {}\n\n{kept}: `{}/tasks.json` must hold the whole list in the end.\n",
            self.prompt,
            faults.join("\n"),
            scratch.relative()
        )
    }
}

fn add(sum: &mut Spend, spend: Spend) {
    sum.input_tokens = sum.input_tokens.saturating_add(spend.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(spend.output_tokens);
    sum.cost_micro_usd = sum.cost_micro_usd.saturating_add(spend.cost_micro_usd);
}

/// The best of what came; an error when nothing of it can be written.
fn chosen(mut tries: Vec<Try>, drafted: &Drafted) -> Result<Draft, CliError> {
    let count = tries.len();
    let best = draft::best(&tries).map(|place| tries.swap_remove(place));
    let often = if count > 1 { format!(" after {count} tries") } else { String::new() };
    let wrong = format!("the draft cannot be used{often}, and nothing was written");
    match best {
        Some(Ok(draft)) if !draft.stories.is_empty() => Ok(draft),
        Some(Ok(draft)) => {
            let reasons = draft.refused.iter().take(REASONS_MAX);
            Err(reasons.fold(CliError::data(wrong), CliError::cause))
        }
        Some(Err(error @ draft::DraftError::TooMany(_))) => Err(CliError::data(wrong).cause(error)),
        Some(Err(draft::DraftError::NoStories)) | None => Err(nothing(drafted, &often)),
    }
}

fn nothing(drafted: &Drafted, often: &str) -> CliError {
    let died = match drafted.how {
        ExitHow::Code(0) => None,
        ExitHow::Code(code) => Some(format!("it exited with {code}")),
        ExitHow::Signal(signal) => Some(format!("signal {signal} ended it")),
        ExitHow::Lost => Some("it was lost".to_owned()),
    };
    let what = format!("the agent drafted no stories{often}, and nothing was written");
    let error = died.into_iter().fold(CliError::data(what), CliError::cause);
    let words = flyball_core::text::tail(drafted.said.trim(), WORDS_MAX);
    if words.is_empty() { error } else { error.cause(format!("it said: {words}")) }
}

/// What the agent says while it drafts, for people who wait: whole lines.
pub(super) struct Listener {
    is_quiet: bool,
    paint: Paint,
    cleaner: PlainText,
    line: String,
}

impl Listener {
    /// Somebody who waits at a terminal or a pipe; a program wants the end alone.
    pub(super) fn new(args: &PlanArgs, paint: Paint) -> Self {
        let (cleaner, line) = (PlainText::default(), String::new());
        Self { is_quiet: args.json, paint, cleaner, line }
    }

    fn note(&self, what: &str) {
        if !self.is_quiet {
            terminal::write_err(&format!("{what}\n"));
        }
    }

    fn hear(&mut self, piece: &str) {
        self.cleaner.push(piece, &mut self.line);
        while let Some((line, rest)) = self.line.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            self.tell(&line);
            self.line = rest;
        }
    }

    fn end(&mut self) {
        self.tell(&self.line);
        self.line.clear();
    }

    fn tell(&self, line: &str) {
        if !self.is_quiet && !line.trim().is_empty() {
            terminal::write_err(&format!("{}\n", self.paint.dim(line)));
        }
    }

    fn send_back(&self, wrong: &[String], tries: usize) {
        self.note(&format!("The draft goes back (try {} of {TRIES_MAX}):", tries + 1));
        for why in wrong {
            self.note(terminal::wrapped("  - ", &line(why, 400)).trim_end());
        }
    }
}
