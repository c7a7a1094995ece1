//! A report that may be shown to strangers: folders outside of the repository, names of the user and
//! the machine, and what was said to and by the agent are replaced.

use std::path::Path;

use crate::view::{RunView, words};

/// What is replaced by what.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    root: String,
    names: Vec<(String, &'static str)>,
}

/// Names shorter than this are parts of too many words.
const NAME_MIN: usize = 3;

impl Redaction {
    /// What is known of this user and machine, and of the run's repository.
    pub fn new(root: &Path, user: Option<&str>, host: Option<&str>) -> Self {
        let mut names = Vec::new();
        names.extend(user.map(|user| (user.to_owned(), "<user>")));
        names.extend(host.map(|host| (host.to_owned(), "<host>")));
        names.retain(|(name, _)| name.len() >= NAME_MIN);
        Self { root: root.to_string_lossy().into_owned(), names }
    }

    /// The run without them.
    pub fn apply(&self, run: &mut RunView) {
        run.run.agent = self.text(&run.run.agent);
        let project = run.run.root.file_name().map(std::ffi::OsStr::to_os_string);
        run.run.root = project.map(Into::into).unwrap_or_default();
        if let Some(ending) = &mut run.run.ending {
            ending.why = self.text(&ending.why);
            ending.next_steps = ending.next_steps.iter().map(|step| self.text(step)).collect();
            ending.left.iter_mut().for_each(|left| left.why = self.text(&left.why));
            ending.flaky.values_mut().for_each(|why| *why = self.text(why));
            ending.also.iter_mut().for_each(|trip| trip.evidence = self.text(&trip.evidence));
            if let Some(trip) = &mut ending.trip {
                trip.evidence = self.text(&trip.evidence);
            }
        }
        for one in &mut run.iterations {
            one.briefing = String::new();
            one.last_words = String::new();
            one.guards.iter_mut().for_each(|act| act.evidence = self.text(&act.evidence));
            one.tamper.iter_mut().for_each(|finding| *finding = self.text(finding));
            one.commits.iter_mut().for_each(|commit| commit.subject = self.text(&commit.subject));
            one.changed.iter_mut().for_each(|file| *file = self.text(file));
            if let Some(claim) = &mut one.claim {
                claim.blocked = claim.blocked.as_ref().map(|text| self.text(text));
                claim.decide = claim.decide.as_ref().map(|text| self.text(text));
            }
        }
        for row in &mut run.matrix.rows {
            row.name = self.text(&row.name);
            row.message = self.text(&row.message);
            row.place = row.place.as_ref().map(|place| self.text(place));
        }
        run.lines.iter_mut().for_each(|line| line.text = self.text(&line.text));
        run.stories.iter_mut().for_each(|story| story.title = self.text(&story.title));
        run.broken = run.broken.as_ref().map(|broken| self.text(broken));
    }

    fn text(&self, text: &str) -> String {
        let inside = match self.root.as_str() {
            "" | "/" => text.to_owned(),
            root => text.replace(root, "<repository>"),
        };
        let paths = without_outer_paths(&inside);
        self.names.iter().fold(paths, |text, (name, word)| without_name(&text, name, word))
    }
}

/// A name replaced where it stands for itself, not as a part of a longer word.
fn without_name(text: &str, name: &str, word: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, found) = rest.split_at(at);
        let (found, after) = found.split_at(name.len());
        out.push_str(before);
        let ends = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let is_word = ends(out.chars().next_back()) && ends(after.chars().next());
        out.push_str(if is_word { word } else { found });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Every other absolute path, by its place in the text.
fn without_outer_paths(text: &str) -> String {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        let length = path.find(|c| !is_path(c)).unwrap_or(path.len());
        let (path, after) = path.split_at(length);
        out.push_str(before);
        // A path inside something longer is relative, a single slash is none.
        let begins = before.chars().next_back().is_none_or(|c| !is_path(c) && c != '>' && c != ':');
        let is_outer = begins && path.trim_matches('/').contains('/');
        out.push_str(if is_outer { "<path>" } else { path });
        rest = after;
    }
    out.push_str(rest);
    words::lines(&out)
}
