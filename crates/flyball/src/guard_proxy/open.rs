//! Requests that wait for their answer, and answers of our own that wait for the rest of their
//! batch. Bounded: what is oldest is forgotten first.

use std::collections::BTreeMap;

use serde_json::Value;

/// The most requests that are remembered as open.
const OPEN_MAX: usize = 10_000;

/// Requests without an answer.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    /// By their id as JSON.
    open: BTreeMap<String, Open>,
    /// Ids by the order they came in.
    order: BTreeMap<u64, String>,
    next: u64,
    /// Batches of which some calls were refused, by number.
    batches: BTreeMap<u64, Batch>,
}

#[derive(Debug)]
struct Open {
    number: u64,
    kind: Kind,
    batch: Option<u64>,
}

/// Answers that go with the server's answer to the rest of their batch.
#[derive(Debug)]
struct Batch {
    answers: Vec<String>,
    /// How many requests of it the server has not answered.
    waiting: usize,
}

/// What an open request is.
#[derive(Debug)]
pub(super) enum Kind {
    /// A tool call, with what the agent is to be told with its result.
    Call { nudge: Option<String> },
    /// Anything else.
    Other,
}

/// A request that was answered.
#[derive(Debug, Default)]
pub(super) struct Closed {
    /// What it was; none when nobody asked.
    pub(super) kind: Option<Kind>,
    /// Our own answers of its batch, which were waiting for this.
    pub(super) held: Vec<String>,
}

impl OpenRequests {
    /// A request goes to the server.
    pub(super) fn open(&mut self, id: &Value, kind: Kind) {
        let number = self.next;
        self.next = number.saturating_add(1);
        let id = key(id);
        if let Some(before) = self.open.insert(id.clone(), Open { number, kind, batch: None }) {
            self.order.remove(&before.number);
            self.leave(before.batch);
        }
        self.order.insert(number, id);
        if self.open.len() > OPEN_MAX
            && let Some((_, oldest)) = self.order.pop_first()
            && let Some(oldest) = self.open.remove(&oldest)
        {
            self.leave(oldest.batch);
        }
    }

    /// Our answers go out with the server's to these requests.
    pub(super) fn hold(&mut self, waiting: &[Value], answers: Vec<String>) {
        let number = self.next;
        self.next = number.saturating_add(1);
        let mut count = 0_usize;
        for id in waiting {
            if let Some(open) = self.open.get_mut(&key(id))
                && open.batch.replace(number).is_none()
            {
                count = count.saturating_add(1);
            }
        }
        self.batches.insert(number, Batch { answers, waiting: count });
    }

    /// The server has answered a request.
    pub(super) fn close(&mut self, id: &Value) -> Closed {
        let Some(open) = self.open.remove(&key(id)) else { return Closed::default() };
        self.order.remove(&open.number);
        let held = open.batch.and_then(|number| self.batches.remove(&number));
        Closed { kind: Some(open.kind), held: held.map(|batch| batch.answers).unwrap_or_default() }
    }

    /// The client wants no answer any more; what was held for the last of a batch is due now.
    pub(super) fn cancel(&mut self, id: &Value) -> Vec<String> {
        let Some(open) = self.open.remove(&key(id)) else { return Vec::new() };
        self.order.remove(&open.number);
        self.leave(open.batch)
    }

    /// A request of a batch waits no longer: the answers, when it was the last one.
    fn leave(&mut self, batch: Option<u64>) -> Vec<String> {
        let Some(number) = batch else { return Vec::new() };
        let Some(batch) = self.batches.get_mut(&number) else { return Vec::new() };
        batch.waiting = batch.waiting.saturating_sub(1);
        if batch.waiting > 0 {
            return Vec::new();
        }
        self.batches.remove(&number).map(|batch| batch.answers).unwrap_or_default()
    }

    /// Everything that is still open, and every answer that was held.
    pub(super) fn take_all(&mut self) -> (Vec<Value>, Vec<String>) {
        self.order.clear();
        let open = std::mem::take(&mut self.open);
        let ids = open.keys().filter_map(|id| serde_json::from_str(id).ok()).collect();
        let batches = std::mem::take(&mut self.batches);
        (ids, batches.into_values().flat_map(|batch| batch.answers).collect())
    }
}

/// An id as JSON: `1` is not `"1"`.
pub(super) fn key(id: &Value) -> String {
    id.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other(requests: &mut OpenRequests, ids: &[u64]) -> Vec<Value> {
        let ids: Vec<Value> = ids.iter().map(|id| Value::from(*id)).collect();
        for id in &ids {
            requests.open(id, Kind::Other);
        }
        ids
    }

    #[test]
    fn held_answers_go_with_the_first_answer_and_only_once() {
        let mut requests = OpenRequests::default();
        let ids = other(&mut requests, &[1, 2]);
        requests.hold(&ids, vec!["mine".to_owned()]);
        assert_eq!(requests.close(&ids[1]).held, ["mine"]);
        assert!(requests.close(&ids[0]).held.is_empty());
        assert!(requests.batches.is_empty());
    }

    #[test]
    fn held_answers_are_due_when_the_last_of_the_batch_is_cancelled() {
        let mut requests = OpenRequests::default();
        let ids = other(&mut requests, &[1, 2]);
        requests.hold(&ids, vec!["mine".to_owned()]);
        assert!(requests.cancel(&ids[0]).is_empty());
        assert_eq!(requests.cancel(&ids[1]), ["mine"]);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut requests = OpenRequests::default();
        for id in 0..50_000_u64 {
            let ids = other(&mut requests, &[id]);
            requests.hold(&ids, vec!["mine".to_owned()]);
        }
        assert_eq!(requests.open.len(), OPEN_MAX);
        assert_eq!(requests.order.len(), OPEN_MAX);
        assert_eq!(requests.batches.len(), OPEN_MAX);
        let (open, held) = requests.take_all();
        assert_eq!((open.len(), held.len()), (OPEN_MAX, OPEN_MAX));
    }
}
