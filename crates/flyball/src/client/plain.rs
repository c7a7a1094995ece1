//! Plain text, as any program prints it.

use flyball_core::AgentFact;
use flyball_core::call::Chant;
use flyball_core::claim::read_plain;
use flyball_core::event::{Exit, ExitHow};

use super::lines::{Line, Lines};
use super::session::{WORDS, last_words, tail_bytes};
use super::{AgentNote, Fact, Output, ReadRequest, Reader};

/// Reads plain text: keeps the end of it, and looks for claims when it is over.
#[derive(Debug)]
struct PlainReader {
    prompt: String,
    stdout: Lines,
    text: String,
}

/// Plain text, in which only claims and last words are found.
pub(crate) struct PlainText;

impl Output for PlainText {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        Box::new(PlainReader::new(request))
    }

    fn is_structured(&self) -> bool {
        false
    }

    fn free_text(&self) -> &'static [&'static str] {
        &[]
    }
}

impl PlainReader {
    fn new(request: &ReadRequest) -> Self {
        Self { prompt: request.prompt.clone(), stdout: Lines::default(), text: String::new() }
    }
}

impl Reader for PlainReader {
    fn stdout(&mut self, bytes: &[u8], out: &mut Vec<Fact>) {
        let Self { stdout, text, .. } = self;
        stdout.feed(bytes, |line| keep(text, &line, out));
    }

    fn stderr(&mut self, _bytes: &[u8], _out: &mut Vec<Fact>) {}

    fn finish(mut self: Box<Self>, how: ExitHow, out: &mut Vec<Fact>) -> Exit {
        let Self { stdout, text, .. } = &mut *self;
        stdout.end(|line| keep(text, &line, out));
        plain_exit(how, &self.text, &self.prompt, out)
    }
}

/// The end of a plain-text session.
pub(crate) fn plain_exit(how: ExitHow, text: &str, prompt: &str, out: &mut Vec<Fact>) -> Exit {
    if let Some(chant) = Chant::at_end_of(text) {
        out.push(Fact::Agent(AgentFact::Chanted(chant)));
    }
    if !text.trim().is_empty() {
        out.push(Fact::Agent(AgentFact::Spoke));
    }
    let text = tail_bytes(text, WORDS);
    Exit { how, claims: read_plain(text, prompt), last_words: last_words(text) }
}

/// Adds a line to a text that keeps only its end.
pub(crate) fn keep(text: &mut String, line: &Line<'_>, out: &mut Vec<Fact>) {
    let (Line::Whole(line) | Line::Overlong(line)) = line;
    // More than its end never stays.
    text.push_str(tail_bytes(line, WORDS));
    text.push('\n');
    if text.len() > 2 * WORDS {
        *text = tail_bytes(text, WORDS).to_owned();
    }
    out.push(Fact::AgentNote(AgentNote::Said(format!("{line}\n"))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_output_of_any_length_keeps_only_its_end() {
        let request = ReadRequest::default();
        let mut reader = Box::new(PlainReader::new(&request));
        let mut out = Vec::new();
        for _ in 0..2000 {
            reader.stdout("0123456789abcdef ".repeat(60).as_bytes(), &mut out);
            reader.stdout(b"\n", &mut out);
            out.clear();
            assert!(reader.text.len() <= 3 * WORDS);
        }
        reader.stdout(b"the end", &mut out);
        let exit = reader.finish(ExitHow::Code(0), &mut out);
        assert!(exit.last_words.ends_with("the end"));
        assert!(out.contains(&Fact::Agent(AgentFact::Spoke)));
    }
}
