//! What a turn of `flyball session` costs beside a bare loop with the same client: the same script, the
//! same conversation, the same reading of a file, without guards and journal.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use flyball_models::{CallResult, Cancel, Key, Message, Model, Request, Settings, Tool, service};
use flyball_testkit::model::{ModelServer, Step};
use serde_json::{Value, json};

use super::{Place, now};
use crate::say;

const TURNS: usize = 200;
const ROUNDS: usize = 5;
const FILE: &str = "file-1.txt";

impl Place {
    /// Turns of a session and of a bare loop, taking turns themselves; the middle of the rounds.
    pub(super) fn turns(&self) -> Result<()> {
        if cfg!(debug_assertions) {
            // Beside a loop that is not optimised every session looks fast.
            say("one turn of a session: cargo run --release -p xtask -- bench turns");
            return Ok(());
        }
        let repo = self.repository("turns")?;
        let (mut held, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (long, short) = (self.session(&repo, TURNS)?, self.session(&repo, 1)?);
            held.push(long.saturating_sub(short) / u32::try_from(TURNS - 1)?);
            let (long, short) = (bare_loop(&repo, TURNS)?, bare_loop(&repo, 1)?);
            bare.push(long.saturating_sub(short) / u32::try_from(TURNS - 1)?);
        }
        let (held, bare) = (middle(held), middle(bare));
        let more = held.saturating_sub(bare);
        say(&format!(
            "one turn of a session                  {held:>8.2?}   bare loop {bare:>8.2?}   {more:.2?} more   \
             (at most 1 ms)"
        ));
        Ok(())
    }

    fn session(&self, repo: &Path, turns: usize) -> Result<Duration> {
        let server = ModelServer::start(script(turns))?;
        let mut session = self.isolated(&self.program);
        session
            .args(["session", "go", "--permission", "skip"])
            .current_dir(repo)
            .env("ANTHROPIC_API_KEY", "none")
            .env("ANTHROPIC_BASE_URL", server.url())
            .env("FLYBALL_CALLS__ACCOUNT", "false");
        let began = now();
        let output = session.output()?;
        let took = began.elapsed();
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        ensure!(server.turns().len() == turns + 1, "the session did not follow the script");
        Ok(took)
    }
}

/// Reads one line after the other, and is done.
fn script(turns: usize) -> Vec<Step> {
    let read =
        |n: usize| Step::call("read", &json!({ "path": FILE, "from": n % 40 + 1, "lines": 1 }));
    (0..turns).map(read).chain([Step::text("done")]).collect()
}

fn bare_loop(repo: &Path, turns: usize) -> Result<Duration> {
    let server = ModelServer::start(script(turns))?;
    let known = service("anthropic").context("anthropic is known")?;
    let mut settings = Settings::of(known, "claude-sonnet-4-5", Key::new("none", "the bench")?);
    settings.url = server.url();
    let model = Model::new(settings).map_err(|failure| anyhow!("{failure}"))?;
    let schema = json!({ "type": "object" });
    let (name, description) = ("read".to_owned(), "reads".to_owned());
    let tools = [Tool { name, description, schema }];
    let mut messages = vec![Message::user("go")];
    let began = now();
    loop {
        let mut request = Request::new(&messages);
        request.tools = &tools;
        let reply = model
            .ask(&request, &Cancel::default(), &mut |_| {})
            .map_err(|failure| anyhow!("{failure}"))?;
        let calls: Vec<_> = reply.message.calls().cloned().collect();
        messages.push(reply.message);
        if calls.is_empty() {
            return Ok(began.elapsed());
        }
        let mut results = Vec::new();
        for call in calls {
            let from =
                call.arguments.json().and_then(|args| args.get("from")).and_then(Value::as_u64);
            let text = fs::read_to_string(repo.join(FILE))?;
            let at = usize::try_from(from.unwrap_or(1)).unwrap_or(1).saturating_sub(1);
            let content = text.lines().nth(at).unwrap_or_default().to_owned();
            results.push(CallResult { id: call.id, name: call.name, content, is_error: false });
        }
        messages.push(Message::results(results));
    }
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
