//! Takes prefixes off and reads each of the interleaved streams on its own.

use crate::hints::Hints;
use crate::kept::Kept;
use crate::panel::Panel;
use crate::passing::Passing;
use crate::prefix::{self, Shape};
use crate::report::Report;
use crate::skim::Skimmed;
use crate::window::{Before, Held, Judgement, Window};

/// How many streams are read side by side; the lines of further ones stay with the others.
const CHILDREN_MAX: usize = 24;
/// How many further ones may be inside of those, besides one in each: a time may stand before all lines.
const SPARE: usize = 48;
/// How many prefixes a line may have, one inside the other.
const DEPTH_MAX: usize = 3;

/// How many prefixes nobody knows may stand side by side.
const BEFORE_MAX: usize = 8;

/// One stream of lines, and those that are inside it.
#[derive(Clone)]
pub(crate) struct Stream {
    command: String,
    depth: usize,
    /// How many streams may still begin inside others, of the whole output.
    spare: usize,
    panel: Panel,
    kept: Kept,
    window: Window,
    /// What stands before the lines of this stream; of prefixes nobody knows there may be several.
    before: Vec<Before>,
    children: Vec<Child>,
}

#[derive(Clone)]
struct Child {
    key: String,
    /// Whether it was announced by its command line, as pnpm does: `packages/a test$ jest`.
    is_announced: bool,
    /// Whether it has said something since.
    is_heard: bool,
    stream: Stream,
}

/// What one stream said.
#[derive(Clone)]
pub(crate) struct Said {
    /// The folder its paths are relative to, where it is known.
    pub folder: Option<String>,
    /// What the recognisers understood.
    pub reports: Vec<Report>,
    /// Lines that may say why nobody did.
    pub kept: Kept,
}

impl Stream {
    /// The whole output of a command.
    pub(crate) fn new(command: &str) -> Self {
        Self::at(command, 0, Panel::new(command))
    }

    fn at(command: &str, depth: usize, panel: Panel) -> Self {
        Self {
            command: command.to_owned(),
            depth,
            spare: SPARE,
            panel,
            kept: Kept::default(),
            window: Window::default(),
            before: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Takes a line.
    pub(crate) fn line(&mut self, line: Passing<'_>) {
        if self.depth >= DEPTH_MAX {
            return self.own(line);
        }
        if !self.before.is_empty() && self.route(line) {
            return;
        }
        let may_be_routine = !line.is_refused && self.is_settled();
        if may_be_routine && self.panel.is_routine(line.text.as_bytes(), line.number) {
            self.window.pass(1);
            self.kept.take_last(line);
            return;
        }
        // Who announces its programs puts nothing else before their lines.
        let is_announcing = self.children.iter().any(|child| child.is_announced && child.is_heard);
        if is_announcing && self.window.is_empty() {
            self.own_or_announced(line);
        } else if self.window.wants(line.text) || !self.before.is_empty() {
            let text = line.text.to_owned();
            let held = Held { text, number: line.number, near_end: line.near_end };
            let judgement = self.window.hold(held, self.depth);
            self.follow(judgement);
        } else {
            self.own_or_announced(line);
        }
    }

    /// Takes whole lines from the start of these as long as they are routine; the first is the
    /// `number`th. None of them is near the end.
    pub(crate) fn skim(&mut self, lines: &[u8], number: u64) -> Skimmed {
        let is_plain = self.before.is_empty() && self.is_settled();
        let skimmed = if is_plain { self.panel.skim(lines, number) } else { Skimmed::default() };
        if skimmed.lines > 0 {
            self.window.pass(skimmed.lines);
        }
        skimmed
    }

    /// From now on copies share what the readers have, until these get more.
    pub(crate) fn share(&mut self) {
        self.panel.share();
        self.children.iter_mut().for_each(|child| child.stream.share());
    }

    /// Whether lines that speak of an error are still looked for.
    pub(crate) fn is_curious(&self) -> bool {
        self.kept.is_curious()
    }

    /// Whether its lines are its own, as they are.
    fn is_settled(&self) -> bool {
        self.window.is_settled() && self.kept.is_begun() && self.children.is_empty()
    }

    /// Everything that was said, of this stream and of those inside it.
    pub(crate) fn finish(mut self, total: u64) -> Vec<Said> {
        let mut all = Vec::new();
        self.collect(None, &mut all);
        for said in &mut all {
            said.kept.settle(total);
        }
        all
    }

    fn collect(&mut self, folder: Option<String>, all: &mut Vec<Said>) {
        while !self.window.is_empty() {
            let judgement = self.window.judge(self.depth);
            self.follow(judgement);
        }
        for child in &mut self.children {
            let named = child.is_announced.then(|| child.key.rsplit_once(' ')).flatten();
            let named = named.map(|(path, _)| path.to_owned()).filter(|path| path != ".");
            child.stream.spare = self.spare;
            child.stream.collect(named.or_else(|| folder.clone()), all);
            self.spare = child.stream.spare;
        }
        // Only a stream of its own has a folder of its own.
        let told = self.panel.folder().filter(|_| self.depth > 0);
        let kept = std::mem::take(&mut self.kept);
        all.push(Said { folder: folder.or(told), reports: self.panel.finish(), kept });
    }

    fn follow(&mut self, judgement: Judgement) {
        match judgement {
            Judgement::Open => {}
            Judgement::Plain(lines) => self.all_own(&lines),
            Judgement::Found(before, plain, lines) => {
                self.all_own(&plain);
                self.before.push(before);
                for line in &lines {
                    if !self.route(line.passing()) {
                        self.own_or_announced(line.passing());
                    }
                }
            }
        }
    }

    fn all_own(&mut self, lines: &[Held]) {
        for line in lines {
            self.own_or_announced(line.passing());
        }
    }

    /// Takes a line of a stream whose lines have a prefix; not one that may have another.
    fn route(&mut self, line: Passing<'_>) -> bool {
        let before = std::mem::take(&mut self.before);
        let is_time = matches!(before.first(), Some(Before::Known(Shape::Time, _)));
        let has_room = before.len() < BEFORE_MAX;
        let is_taken =
            if let Some((key, rest)) = before.iter().find_map(|before| before.strip(line.text)) {
                self.inside(key, line.inside(rest));
                true
            } else if is_time {
                // Lines go on without a time.
                self.inside("", line.inside(line.text));
                true
            } else if has_room && matches!(before.first(), Some(Before::Common(_))) {
                false
            } else {
                self.own_or_announced(line);
                true
            };
        self.before = before;
        is_taken
    }

    fn inside(&mut self, key: &str, line: Passing<'_>) {
        match self.child(key) {
            Some(at) => self.pass_on(at, line),
            None => self.own(line),
        }
    }

    /// Which of the streams inside has this key; a new one, where there is room for it.
    fn child(&mut self, key: &str) -> Option<usize> {
        let known = self.children.iter().position(|child| child.key == key);
        if known.is_some() {
            return known;
        }
        let is_free = self.depth == 0 || self.children.is_empty();
        if self.children.len() >= CHILDREN_MAX || (!is_free && self.spare == 0) {
            return None;
        }
        self.spare -= usize::from(!is_free);
        self.add(key);
        self.children.len().checked_sub(1)
    }

    fn add(&mut self, key: &str) {
        let panel = self.panel.beside();
        let stream = Self::at(&self.command, self.depth.saturating_add(1), panel);
        self.children.push(Child {
            key: key.to_owned(),
            is_announced: false,
            is_heard: false,
            stream,
        });
    }

    /// Hands a line over to one of the streams inside.
    fn pass_on(&mut self, at: usize, line: Passing<'_>) {
        if let Some(child) = self.children.get_mut(at) {
            child.stream.spare = self.spare;
            child.stream.line(line);
            self.spare = child.stream.spare;
        }
    }

    /// A line without a prefix of the usual kind: pnpm announces its own.
    fn own_or_announced(&mut self, line: Passing<'_>) {
        if line.hints.marks.dollar
            && let Some(key) = prefix::announced(line.text)
        {
            let at = self.child(key);
            if let Some(child) = at.and_then(|at| self.children.get_mut(at)) {
                child.is_announced = true;
            }
            return;
        }
        let announced =
            self.children.iter_mut().enumerate().filter(|(_, child)| child.is_announced);
        for (at, child) in announced {
            let rest = line.text.strip_prefix(&*child.key).and_then(|rest| rest.strip_prefix(':'));
            if let Some(rest) = rest {
                let text = rest.strip_prefix(' ').unwrap_or(rest);
                child.is_heard = true;
                return self.pass_on(at, line.inside(text));
            }
        }
        // Its other way: lines with a bar below the announcement.
        if let Some(text) = line.text.strip_prefix("\u{2502} ")
            && self.children.last().is_some_and(|last| last.is_announced)
        {
            return self.pass_on(self.children.len() - 1, line.inside(text));
        }
        self.own(line);
    }

    fn own(&mut self, line: Passing<'_>) {
        self.kept.take(line);
        self.panel.line(line.text, line.number, line.hints);
    }
}

impl Held {
    fn passing(&self) -> Passing<'_> {
        let Self { text, number, near_end } = self;
        let (number, near_end) = (*number, *near_end);
        Passing { text, number, hints: Hints::UNKNOWN, near_end, is_refused: false }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHILDREN_MAX, Held, SPARE, Stream};

    fn count(stream: &Stream) -> usize {
        1 + stream.children.iter().map(|child| count(&child.stream)).sum::<usize>()
    }

    #[test]
    fn streams_inside_streams_are_bounded_as_a_whole() {
        let mut stream = Stream::new("./ci.sh");
        let mut number = 0;
        for outer in 0..30 {
            for middle in 0..30 {
                for inner in (0..30).flat_map(|inner| [inner; 3]) {
                    number += 1;
                    let text =
                        format!("[part{outer}] web-{middle}  | [job{inner}]   text {number}");
                    stream.line(Held { text, number, near_end: false }.passing());
                }
            }
        }
        let count = count(&stream);
        assert!(count > CHILDREN_MAX, "{count}: they are not told apart");
        let inside = CHILDREN_MAX + SPARE;
        assert!(count <= 1 + CHILDREN_MAX + 2 * inside, "{count}");
    }
}
