//! The run's side of the door. It checks who asks, and hands each question to the run's one loop;
//! nothing is decided here.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flyball_core::RunId;
use flyball_core::door::DoorAnswer;

use super::visits::Visits;
use super::{Input, Knock, LINE_MAX, Line, VERSION, place};
use crate::clock::Deadline;
use crate::platform;

/// How long a question may take to arrive once it has begun, and an answer to be taken.
const LINE_TIME: Duration = Duration::from_secs(10);
/// How long an asker may stay without a question while nobody needs its place; it can come again.
const IDLE_TIME: Duration = Duration::from_secs(30);
/// How long a session may take to be known once one of its processes asks.
const START_TIME: Duration = Duration::from_secs(5);

/// A question that has arrived, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Knocked {
    pub(crate) knock: Knock,
    pub(crate) reply: Reply,
}

/// Where one answer goes. Dropped without one, the asker is told that the session is over.
#[derive(Debug)]
pub(crate) struct Reply(SyncSender<DoorAnswer>);

impl Reply {
    /// Answers. An asker that has gone is nobody's loss.
    pub(crate) fn answer(self, answer: DoorAnswer) {
        self.0.send(answer).ok();
    }
}

/// What is known of those who may ask.
#[derive(Debug)]
struct House {
    run: RunId,
    /// The keeper of the session at work; 0 while there is none.
    keeper: AtomicU32,
    visits: Visits,
    closing: AtomicBool,
}

impl House {
    /// The keeper of the session at work. An agent may ask before flyball has heard that it runs.
    fn keeper_at_work(&self) -> Option<u32> {
        let limit = Deadline::after(START_TIME);
        loop {
            match self.keeper.load(Ordering::SeqCst) {
                0 if limit.passed() || self.closing.load(Ordering::SeqCst) => return None,
                0 => thread::sleep(Duration::from_millis(5)),
                keeper => return Some(keeper),
            }
        }
    }
}

/// The open door of a run; dropping closes it.
#[derive(Debug)]
pub(crate) struct Door {
    house: Arc<House>,
    path: PathBuf,
    thread: Option<JoinHandle<()>>,
}

/// Takes questions; false when nobody does any more.
type Inbox = Arc<dyn Fn(Knocked) -> bool + Send + Sync>;

impl Door {
    /// Opens the door of a run in its private folder. `inbox` is called from threads of their own and
    /// may block.
    pub(crate) fn open(
        private_dir: &Path,
        run: &RunId,
        inbox: impl Fn(Knocked) -> bool + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let path = place(private_dir);
        // One of a flyball that was killed.
        crate::loopdir::remove(&path)?;
        let listener = platform::listen(&path)?;
        let house = Arc::new(House {
            run: run.clone(),
            keeper: AtomicU32::new(0),
            visits: Visits::default(),
            closing: AtomicBool::new(false),
        });
        let (inside, inbox): (_, Inbox) = (Arc::clone(&house), Arc::new(inbox));
        let thread = thread::Builder::new()
            .name("door".to_owned())
            .spawn(move || receive(&listener, &inside, &inbox))?;
        Ok(Self { house, path, thread: Some(thread) })
    }

    /// From now on whatever stands below this keeper may ask; nobody when there is none.
    pub(crate) fn admit(&self, keeper: Option<u32>) {
        self.house.keeper.store(keeper.unwrap_or(0), Ordering::SeqCst);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.house.closing.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for visitors.
        let woken = platform::connect(&self.path).is_ok();
        if let (true, Some(thread)) = (woken, self.thread.take()) {
            thread.join().ok();
        }
        crate::loopdir::remove(&self.path).ok();
    }
}

fn receive(listener: &UnixListener, house: &Arc<House>, inbox: &Inbox) {
    for stream in listener.incoming() {
        if house.closing.load(Ordering::SeqCst) {
            return;
        }
        // Out of descriptors, for instance: those who are served give theirs back.
        let Ok(stream) = stream else {
            thread::sleep(Duration::from_millis(10));
            continue;
        };
        let stream = Arc::new(stream);
        let Some(number) = house.visits.enter(&stream, &house.closing) else { return };
        let (inside, inbox) = (Arc::clone(house), Arc::clone(inbox));
        let served = move || {
            serve(&stream, number, &inside, &inbox);
            inside.visits.leave(number);
        };
        // Without a thread the connection is closed, and the asker does as its settings say.
        if thread::Builder::new().name("visitor".to_owned()).spawn(served).is_err() {
            house.visits.leave(number);
        }
    }
}

/// Serves one asker until it goes away.
fn serve(stream: &UnixStream, number: u64, house: &House, inbox: &Inbox) {
    stream.set_write_timeout(Some(LINE_TIME)).ok();
    match known(stream, house) {
        Ok(process) if house.visits.named(number, process) => {}
        Ok(_) => return refuse(stream, "its process asks too much at once"),
        Err(why) => return refuse(stream, why),
    }
    let mut lines = BufReader::new(stream);
    while let Some(knock) = next(&mut lines, stream) {
        let knock = match knock {
            Ok(knock) if knock.v != VERSION => {
                return refuse(stream, "it speaks another version of flyball");
            }
            Ok(knock) if knock.run != house.run => {
                return refuse(stream, "it is another run's door");
            }
            Ok(knock) => knock,
            Err(why) => return refuse(stream, &why),
        };
        if !house.visits.asked(number, matches!(knock.input, Input::Stop { .. })) {
            return refuse(stream, "too many want to stop at once");
        }
        let (reply, answer): (_, Receiver<DoorAnswer>) = sync_channel(1);
        if !inbox(Knocked { knock, reply: Reply(reply) }) {
            return refuse(stream, "the run is over");
        }
        let line = match answer.recv() {
            Ok(answer) => Line::Answer(answer),
            Err(_) => Line::Over,
        };
        house.visits.answered(number);
        if say(stream, &line).is_err() {
            return;
        }
    }
}

/// The asker's process, if it is one of ours: of the same user, and below the session's keeper.
fn known(stream: &UnixStream, house: &House) -> Result<u32, &'static str> {
    let peer = platform::peer(stream).map_err(|_| "it cannot be told who asks")?;
    if peer.uid != platform::own_user() {
        return Err("another user asks");
    }
    let keeper = house.keeper_at_work().ok_or("no session is at work")?;
    if !platform::descends_from(peer.pid, keeper) {
        return Err("the asker does not belong to the session");
    }
    Ok(peer.pid)
}

/// The next question; none when the asker has gone.
fn next(lines: &mut BufReader<&UnixStream>, stream: &UnixStream) -> Option<Result<Knock, String>> {
    // Between two questions there is little hurry, but nobody keeps a place for ever; within one
    // there is.
    stream.set_read_timeout(Some(IDLE_TIME)).ok();
    if lines.fill_buf().ok()?.is_empty() {
        return None;
    }
    stream.set_read_timeout(Some(LINE_TIME)).ok();
    let mut line = Vec::new();
    lines.take(LINE_MAX).read_until(b'\n', &mut line).ok()?;
    if line.last() != Some(&b'\n') {
        return Some(Err("the question is too long".to_owned()));
    }
    Some(serde_json::from_slice(&line).map_err(|error| format!("no question: {error}")))
}

fn refuse(stream: &UnixStream, why: &str) {
    // An asker that does not listen is told nothing.
    say(stream, &Line::Refused { why: why.to_owned() }).ok();
}

fn say(mut stream: &UnixStream, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line).map_err(io::Error::other)?;
    text.push(b'\n');
    stream.write_all(&text)
}
