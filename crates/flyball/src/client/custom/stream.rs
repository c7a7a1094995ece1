//! Any program at all: plain text, with the prompt by standard input, argument or file.

use flyball_core::AgentFact;
use flyball_core::claim::read_plain;
use flyball_core::event::{AgentTraits, Exit, ExitHow};

use super::launch::{Launch, LaunchRequest, PromptBy, Stdin};
use super::lines::{Line, Lines};
use super::session::{WORDS, last_words, tail_bytes};
use super::{Adapter, AgentNote, Book, Fact, ReadRequest, Reader, Whereabouts};

/// A program named by the config or given after `--`.
#[derive(Clone, Debug)]
pub struct Custom {
    /// Program and arguments.
    pub command: Vec<String>,
    /// How it takes its prompt.
    pub prompt: PromptBy,
    /// How what it prints is read: `flyball` or another adapter's name; anything else is plain
    /// text.
    pub output: String,
}

impl Adapter for Custom {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn traits(&self) -> AgentTraits {
        let spoken = self.spoken();
        AgentTraits {
            steerable: spoken.is_some_and(|adapter| adapter.name() == "flyball"),
            structured: spoken.is_some_and(|adapter| adapter.traits().structured),
        }
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Launch {
        let mut launch = Launch { argv: self.command.clone(), ..Launch::default() };
        launch.extra(request);
        match self.prompt {
            PromptBy::Stdin => launch.stdin = Stdin::Text(request.prompt.to_owned()),
            PromptBy::Argument => launch.arg(request.prompt),
            PromptBy::File => {
                let prompt = request.prompt.to_owned();
                let path = launch.private(request.private_dir, "prompt.md", prompt);
                launch.arg(&path);
            }
        }
        launch
    }

    fn free_text(&self) -> &'static [&'static str] {
        self.spoken().map_or(&[], Adapter::free_text)
    }

    fn refuse_after_at_most(&self) -> Option<u32> {
        self.spoken().and_then(Adapter::refuse_after_at_most)
    }

    fn can_resume(&self) -> bool {
        false
    }

    fn tells_cost(&self) -> bool {
        self.spoken().is_some_and(Adapter::tells_cost)
    }

    fn book(&self, at: &Whereabouts<'_>) -> Option<Box<dyn Book>> {
        self.spoken()?.book(at)
    }

    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        match self.spoken() {
            Some(adapter) => adapter.reader(request),
            None => Box::new(PlainReader::new(request)),
        }
    }
}

impl Custom {
    fn spoken(&self) -> Option<&'static dyn Adapter> {
        super::adapter(&self.output)
    }
}

/// Reads plain text: keeps the end of it, and looks for claims when it is over.
#[derive(Debug)]
struct PlainReader {
    prompt: String,
    stdout: Lines,
    text: String,
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
    if !text.trim().is_empty() {
        out.push(Fact::Agent(AgentFact::Spoke));
    }
    let text = tail_bytes(text, WORDS);
    Exit { how, claims: read_plain(text, prompt), last_words: last_words(text) }
}

/// Adds a line to a text that keeps only its end.
pub(crate) fn keep(text: &mut String, line: &Line<'_>, out: &mut Vec<Fact>) {
    let (Line::Whole(line) | Line::Overlong(line)) = line;
    text.push_str(line);
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

    #[test]
    fn a_custom_program_gets_its_prompt_the_way_the_config_says() {
        let root = std::path::Path::new("/run");
        let request = LaunchRequest {
            prompt: "do it",
            model: None,
            permissions: crate::agent::Permissions::Bypass,
            hooks: None,
            private_dir: root,
            worktree: root,
            resume: None,
            program: None,
            extra_args: &[],
        };
        let custom =
            |prompt| Custom { command: vec!["sh".to_owned()], prompt, output: "text".to_owned() };
        let by_stdin = custom(PromptBy::Stdin).launch(&request);
        assert_eq!(by_stdin.stdin, Stdin::Text("do it".to_owned()));
        assert_eq!(custom(PromptBy::Argument).launch(&request).argv, ["sh", "do it"]);
        let by_file = custom(PromptBy::File).launch(&request);
        assert_eq!(by_file.argv, ["sh", "/run/prompt.md"]);
        assert_eq!(by_file.files[0].text, "do it");
    }
}
