//! The human side (B2): `blocked.txt` and `decide.txt`, written by flyball, answered by hand or by
//! `flyball answer`.

use std::io;

use flyball_core::event::HumanFiles;
use flyball_core::{IterationNo, Moment};

use super::{LoopDir, TEXT_MAX};
use crate::files;

/// What separates the question from the answer.
const LINE: &str = "---";
const ANSWER: &str = "## Answer";

impl LoopDir {
    /// What humans left, without what they accepted (that is in the journal).
    pub fn human_files(&self) -> io::Result<HumanFiles> {
        let blocked = read(&self.file("blocked.txt"))?.map(|text| text.trim().to_owned());
        let (question, answer) = match read(&self.file("decide.txt"))? {
            Some(text) => parse(&text),
            None => (None, None),
        };
        let folder =
            (blocked.is_some() || question.is_some()).then(|| self.path().display().to_string());
        Ok(HumanFiles { blocked, question, answer, folder, accepted_tamper: Vec::new() })
    }

    /// Writes why it is blocked.
    pub fn write_blocked(&self, reason: &str) -> io::Result<()> {
        self.open()?.write("blocked.txt", format!("{}\n", reason.trim()))
    }

    /// Writes the question.
    pub fn write_decide(
        &self,
        iteration: IterationNo,
        now: Moment,
        question: &str,
    ) -> io::Result<()> {
        let time = Self::stamp(now);
        let text = format!(
            "## Question (from iteration {iteration}, {time})\n{}\n\n{LINE}\n{ANSWER}\n\n",
            question.trim()
        );
        self.open()?.write("decide.txt", text)
    }

    /// Puts an answer below the question; says what was asked, or nothing when nothing was.
    pub fn write_answer(&self, answer: &str) -> io::Result<Option<String>> {
        let path = self.file("decide.txt");
        let Some(text) = read(&path)? else { return Ok(None) };
        let (head, _) = split(&text);
        let answered = format!("{}\n{LINE}\n{ANSWER}\n{}\n", head.trim_end(), answer.trim());
        self.open()?.write("decide.txt", answered)?;
        Ok(Some(parse(&text).0.unwrap_or_default()))
    }

    /// The blocker is gone.
    pub fn remove_blocked(&self) -> io::Result<()> {
        self.remove("blocked.txt")
    }

    /// The question was answered and acted on.
    pub fn remove_decide(&self) -> io::Result<()> {
        self.remove("decide.txt")
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let folder = files::Folder::open(&self.root, &self.relative);
        files::optional(folder)?.map_or(Ok(()), |folder| folder.remove(name))
    }
}

/// What a file holds; an error says which file it is.
fn read(path: &std::path::Path) -> io::Result<Option<String>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let named = |error: io::Error| io::Error::new(error.kind(), format!("`{name}`: {error}"));
    let bytes = files::optional(files::read(path, TEXT_MAX)).map_err(named)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Question and answer. The question may hold a line of its own: the last one before an answer
/// heading separates, else the last one at all.
fn split(text: &str) -> (String, String) {
    let lines: Vec<&str> = text.lines().collect();
    let is_line = |line: &&str| line.trim_end() == LINE;
    let before_heading = lines.iter().enumerate().rposition(|(index, line)| {
        let next = lines.iter().skip(index + 1).find(|line| !line.trim().is_empty());
        is_line(line) && next.is_some_and(|next| next.trim() == ANSWER)
    });
    let at = before_heading.or_else(|| lines.iter().rposition(is_line));
    match at {
        Some(at) => {
            let (head, tail) = lines.split_at(at);
            (head.join("\n"), tail.get(1..).unwrap_or(&[]).join("\n"))
        }
        None => (text.to_owned(), String::new()),
    }
}

fn parse(text: &str) -> (Option<String>, Option<String>) {
    let (head, tail) = split(text);
    let question: Vec<&str> =
        head.lines().filter(|line| !line.starts_with("## Question")).collect();
    let answer: Vec<&str> = tail.lines().filter(|line| line.trim() != ANSWER).collect();
    let answer = answer.join("\n").trim().to_owned();
    (Some(question.join("\n").trim().to_owned()), (!answer.is_empty()).then_some(answer))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn folder() -> (tempfile::TempDir, LoopDir) {
        let dir = tempfile::tempdir().unwrap();
        let loop_dir = LoopDir::new(dir.path(), Path::new(".flyball"), Path::new("tasks.json"));
        (dir, loop_dir)
    }

    #[test]
    fn a_question_waits_until_it_is_answered_and_keeps_its_own_lines() {
        let (_dir, human_files) = folder();
        let question = "Sockets or polling?\n---\nBoth cost.";
        human_files.write_decide(IterationNo::new(7), Moment::from_millis(0), question).unwrap();
        let seen = human_files.human_files().unwrap();
        assert_eq!(seen.question.as_deref(), Some(question));
        assert_eq!(seen.answer, None);
        assert_eq!(human_files.write_answer("polling\n").unwrap().as_deref(), Some(question));
        assert_eq!(human_files.human_files().unwrap().answer.as_deref(), Some("polling"));
        let text = fs::read_to_string(human_files.file("decide.txt")).unwrap();
        assert!(text.starts_with("## Question (from iteration 7, 1970-01-01T00:00:00Z)\n"));
    }

    #[test]
    fn an_answer_written_by_hand_below_the_line_counts() {
        let (_dir, human_files) = folder();
        fs::create_dir_all(human_files.path()).unwrap();
        fs::write(
            human_files.file("decide.txt"),
            "## Question (from iteration 1, x)\nq?\n---\nyes\n",
        )
        .unwrap();
        let seen = human_files.human_files().unwrap();
        assert_eq!((seen.question.as_deref(), seen.answer.as_deref()), (Some("q?"), Some("yes")));
    }

    #[test]
    fn nothing_there_is_nothing_asked() {
        let (_dir, human_files) = folder();
        assert_eq!(human_files.human_files().unwrap(), HumanFiles::default());
        assert_eq!(human_files.write_answer("x").unwrap(), None);
        human_files.remove_blocked().unwrap();
    }
}
