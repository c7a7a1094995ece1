//! Which calls were told: one that a guard refuses at the door is told before the refusal, and not
//! again when the agent's stream shows it.

use std::collections::VecDeque;

use flyball_core::call::{Fingerprint, ToolCall};

/// How many calls are remembered.
const CALLS: usize = 64;

/// The calls of a session, as far as that needs them.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The one a guard is asked about just now.
    asked: Option<ToolCall>,
    /// Those the stream has shown, by id and identity.
    shown: VecDeque<(String, Fingerprint)>,
    /// Those told at the door, which the stream has not shown yet.
    at_door: VecDeque<(String, Fingerprint)>,
}

impl Calls {
    /// A guard is asked about a call; or about something else.
    pub(super) fn asks(&mut self, call: Option<&ToolCall>) {
        self.asked = call.cloned();
    }

    /// The call a guard was asked about, if nobody has told it yet.
    pub(super) fn untold(&mut self) -> Option<ToolCall> {
        let call = self.asked.take()?;
        let key = key(&call);
        let is_told = match call.id.as_str() {
            // Without an id it is the one shown last, if that was the same call.
            "" => self.shown.back().is_some_and(|(_, identity)| *identity == key.1),
            id => self.shown.iter().any(|(shown, _)| shown == id),
        };
        if is_told {
            return None;
        }
        push(&mut self.at_door, key);
        Some(call)
    }

    /// The stream shows a call; whether it is to be told.
    pub(super) fn shows(&mut self, call: &ToolCall) -> bool {
        let (id, identity) = key(call);
        let known = self.at_door.iter().position(|(told, same)| {
            if told.is_empty() || id.is_empty() { *same == identity } else { *told == id }
        });
        push(&mut self.shown, (id, identity));
        known.and_then(|at| self.at_door.remove(at)).is_none()
    }
}

fn key(call: &ToolCall) -> (String, Fingerprint) {
    (call.id.as_str().to_owned(), call.call)
}

fn push(calls: &mut VecDeque<(String, Fingerprint)>, call: (String, Fingerprint)) {
    if calls.len() == CALLS {
        calls.pop_front();
    }
    calls.push_back(call);
}

#[cfg(test)]
mod tests {
    use flyball_core::CallId;

    use super::*;

    fn call(id: &str, args: &str) -> ToolCall {
        ToolCall::from_json(CallId::new(id), "Bash", args, &[])
    }

    #[test]
    fn a_call_is_told_once_wherever_it_comes_first() {
        let mut calls = Calls::default();
        assert!(calls.shows(&call("1", "{}")));
        calls.asks(Some(&call("1", "{}")));
        assert!(calls.untold().is_none(), "the stream had it");
        calls.asks(Some(&call("2", "{}")));
        assert!(calls.untold().is_some() && calls.untold().is_none());
        assert!(!calls.shows(&call("2", "{}")), "told at the door");
        assert!(calls.shows(&call("3", "{}")));
    }

    #[test]
    fn without_ids_the_same_call_is_known_by_what_it_does() {
        let mut calls = Calls::default();
        calls.asks(Some(&call("", "{\"a\":1}")));
        assert!(calls.untold().is_some());
        assert!(!calls.shows(&call("7", "{\"a\":1}")));
        assert!(calls.shows(&call("8", "{\"a\":1}")));
    }
}
