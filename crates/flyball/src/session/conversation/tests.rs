//! What follows from what was said, as tables.

use serde_json::json;

use super::*;

const ROOM: Compaction = Compaction { window: 100_000, at_percent: 80 };

fn asked(text: &str) -> Entry {
    Entry::Asked { text: text.to_owned() }
}

fn answered(words: &str, calls: &[&str], stop: Stop) -> Entry {
    let mut message = Message { role: Role::Assistant, blocks: Vec::new(), origin: None };
    message.blocks.push(Block::Text(Text { text: words.to_owned(), signature: None }));
    message.blocks.extend(calls.iter().map(|id| {
        let (id, name) = ((*id).to_owned(), "run".to_owned());
        let arguments = Arguments::Json(json!({ "command": "ls" }));
        Block::Call(Call { id, name, arguments, signature: None })
    }));
    Entry::Answered { message, stop, spend: Spend::default(), prompt: 100 }
}

fn began(call: &str) -> Entry {
    Entry::Began { call: call.to_owned() }
}

fn returned(call: &str) -> Entry {
    let (call, text) = (call.to_owned(), "ok".to_owned());
    Entry::Returned { call, outcome: ToolOutcome::Ok, text }
}

fn after(entries: &[Entry]) -> Conversation {
    let mut conversation = Conversation::default();
    for entry in entries {
        // As it is kept and brought back.
        let kept = serde_json::to_string(entry).unwrap();
        conversation.apply(serde_json::from_str(&kept).unwrap());
    }
    conversation
}

fn next(entries: &[Entry]) -> String {
    match after(entries).next(&ROOM) {
        Next::Ask => "ask".to_owned(),
        Next::Compact(messages) => format!("compact {messages}"),
        Next::Perform(call) => format!("perform {}", call.id),
        Next::Explain(call) => format!("explain {}", call.id),
        Next::Rest => "rest".to_owned(),
        Next::Listen => "listen".to_owned(),
        Next::End(_) => "end".to_owned(),
    }
}

#[test]
fn what_is_next_follows_from_what_was() {
    let two = || answered("I look.", &["1", "2"], Stop::Calls);
    let last = || answered("Done.", &[], Stop::End);
    let text = || "x".to_owned();
    let over = || Entry::Ended { ending: Ending::Left };
    let failed = || Entry::Ended { ending: Ending::Failed { why: text() } };
    let cases: [(&str, Vec<Entry>, &str); 21] = [
        ("nothing was said", vec![], "listen"),
        ("a task", vec![asked("a")], "ask"),
        ("calls", vec![asked("a"), two()], "perform 1"),
        ("one is made", vec![asked("a"), two(), began("1"), returned("1")], "perform 2"),
        ("killed in a call", vec![asked("a"), two(), began("1")], "explain 1"),
        ("killed before it", vec![asked("a"), two()], "perform 1"),
        (
            "all are made",
            vec![asked("a"), two(), began("1"), returned("1"), began("2"), returned("2")],
            "ask",
        ),
        ("words alone", vec![asked("a"), last()], "rest"),
        ("it may", vec![asked("a"), last(), Entry::Rested], "listen"),
        ("it may not", vec![asked("a"), last(), Entry::SentBack { text: text() }], "ask"),
        ("advice wakes nobody", vec![asked("a"), last(), Entry::Advised { text: text() }], "rest"),
        ("a pause of the service's", vec![asked("a"), answered("", &[], Stop::Paused)], "ask"),
        ("silence", vec![asked("a"), Entry::Stalled { text: text() }], "ask"),
        ("Ctrl-C", vec![asked("a"), two(), began("1"), Entry::Interrupted], "listen"),
        ("the end", vec![asked("a"), over()], "end"),
        ("taken up again", vec![asked("a"), over(), Entry::Resumed], "ask"),
        ("before its calls", vec![asked("a"), two(), over(), Entry::Resumed], "perform 1"),
        (
            "after its calls",
            vec![
                asked("a"),
                two(),
                began("1"),
                over(),
                Entry::Resumed,
                returned("1"),
                began("2"),
                returned("2"),
            ],
            "ask",
        ),
        ("while the gates ran", vec![asked("a"), last(), over(), Entry::Resumed], "rest"),
        ("after it declined", vec![asked("a"), last(), failed(), Entry::Resumed], "ask"),
        ("it had rested", vec![asked("a"), last(), Entry::Rested, Entry::Resumed], "listen"),
    ];
    for (what, entries, wanted) in cases {
        assert_eq!(next(&entries), wanted, "{what}");
    }
}

#[test]
fn results_and_advice_go_back_in_one_message_and_every_call_has_one() {
    let advice = Entry::Advised { text: "slower".to_owned() };
    let mut told = after(&[
        asked("a"),
        answered("I look.", &["1", "2"], Stop::Calls),
        began("1"),
        advice,
        returned("1"),
        began("2"),
        returned("2"),
    ]);
    let messages = told.send().to_vec();
    assert_eq!(messages.len(), 3);
    let kinds: Vec<&str> = messages[2]
        .blocks
        .iter()
        .map(|block| match block {
            Block::Result(_) => "result",
            Block::Text(_) => "text",
            Block::Thought(_) | Block::Call(_) => "other",
        })
        .collect();
    assert_eq!(kinds, ["result", "result", "text"]);
    assert_eq!(told.send(), messages, "said once");
    let ended = vec![
        asked("a"),
        answered("I look.", &["1", "2"], Stop::Calls),
        began("1"),
        Entry::Interrupted,
        asked("b"),
    ];
    let mut told = after(&ended);
    let last = told.send().last().unwrap().clone();
    let results = last.blocks.iter().filter(|block| matches!(block, Block::Result(_))).count();
    assert_eq!((results, last.text()), (2, "(The human ended this turn.)b".to_owned()));
}

#[test]
fn a_summary_begins_with_the_task_and_leaves_the_end_as_it_was() {
    let mut entries = vec![asked("the task")];
    for n in 0..6 {
        let id = n.to_string();
        entries.push(answered(&"x".repeat(40_000), &[&id], Stop::Calls));
        entries.push(returned(&id));
    }
    let mut told = after(&entries);
    told.full();
    let Next::Compact(cut) = told.next(&ROOM) else { panic!("no room was made") };
    entries.push(Entry::Compacted { messages: cut, summary: "short".to_owned() });
    let mut told = after(&entries);
    assert_eq!(told.next(&ROOM), Next::Ask);
    let messages = told.send();
    assert!(messages[0].text().starts_with("the task\n") && messages[0].text().ends_with("short"));
    assert_eq!(messages[1].role, Role::Assistant);
    assert_eq!(messages.len(), 1 + 13 - cut);
    // Twice: the task is still the first thing.
    entries.push(Entry::Compacted { messages: messages.len(), summary: "shorter".to_owned() });
    assert!(after(&entries).send()[0].text().starts_with("the task\n"));
}

#[test]
fn a_silent_model_is_asked_again_once_in_a_row() {
    let stalled = || Entry::Stalled { text: "?".to_owned() };
    assert!(after(&[asked("a")]).may_stall());
    assert!(!after(&[asked("a"), stalled()]).may_stall());
    assert!(after(&[asked("a"), stalled(), answered("x", &[], Stop::End)]).may_stall());
}
