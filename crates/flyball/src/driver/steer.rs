//! Words for an agent of the own protocol while it works: lines on its standard input, which stays
//! open (`agent.steer`). The first line is the prompt, unless that goes another way.

use std::io::{PipeWriter, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde_json::json;

use super::Driver;

/// Lines that may wait for an agent that does not read.
const WAITING_MAX: usize = 16;

/// The way to an agent that listens; dropping it ends the agent's input.
#[derive(Debug)]
pub(super) struct SteerLine(SyncSender<String>);

impl SteerLine {
    /// Writes into this pipe from now on, in a thread of its own: an agent that does not read holds
    /// nobody up.
    pub(super) fn into(pipe: PipeWriter) -> std::io::Result<Self> {
        let (lines, waiting) = sync_channel(WAITING_MAX);
        thread::Builder::new().name("steer".to_owned()).spawn(move || write(pipe, &waiting))?;
        Ok(Self(lines))
    }

    /// What the agent is to do.
    pub(super) fn prompt(&self, text: &str) {
        self.say(&json!({ "type": "prompt", "text": text }));
    }

    /// A word in between.
    pub(super) fn steer(&self, text: &str) {
        self.say(&json!({ "type": "steer", "text": text }));
    }

    fn say(&self, line: &serde_json::Value) {
        // An agent that has left so many lines unread does not listen.
        self.0.try_send(format!("{line}\n")).ok();
    }
}

fn write(mut pipe: PipeWriter, lines: &Receiver<String>) {
    for line in lines {
        if pipe.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

impl Driver {
    /// Tells the running agent something.
    pub(super) fn steer_agent(&self, message: &str) {
        if let Some(line) =
            self.agent_side.session.as_ref().and_then(|session| session.steer.as_ref())
        {
            line.steer(message);
        }
    }
}
