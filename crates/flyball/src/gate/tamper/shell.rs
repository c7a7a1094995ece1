//! Shell text, as far as it can be told apart without a shell: which programs it starts, in which
//! folder, and whether their output or their end is what counts.

#[cfg(test)]
mod tests;

/// The most steps one text is taken apart into.
const STEPS_MAX: usize = 500;
/// How deep `$(…)` and `sh -c` are followed.
const DEPTH_MAX: usize = 4;

/// Words before a program that are none themselves.
const BEFORE: [&str; 19] = [
    "if", "then", "else", "elif", "do", "while", "until", "!", "{", "(", "exec", "command", "time",
    "nice", "sudo", "builtin", "eval", "nohup", "case",
];

/// One program that is started, and the folder it is started in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that hold or do not, independent of each other"
)]
pub(super) struct Step {
    pub(super) dir: String,
    pub(super) words: Vec<String>,
    /// Its output goes on to something that judges it: it is what is checked, not the check.
    pub(super) judged: bool,
    /// What it hands on is run: `cat check.sh | sh`, `eval "$(cat check.sh)"`.
    pub(super) fed: bool,
    /// The file it reads from.
    pub(super) input: Option<String>,
    pub(super) piped: bool,
}

impl Step {
    /// A path as the repository knows it.
    pub(super) fn path(&self, name: &str) -> String {
        let name = name.trim_start_matches("./");
        let whole = if self.dir.is_empty() || name.starts_with('/') {
            name.to_owned()
        } else {
            format!("{}/{name}", self.dir)
        };
        tidy(&whole)
    }

    pub(super) fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Whether it runs what comes in.
    fn runs_what_comes(&self) -> bool {
        let name = |word: &String| word.rsplit('/').next().unwrap_or(word).to_owned();
        let mut names = self.words.iter().map(name);
        match names.next().as_deref() {
            Some("xargs" | "parallel") => names.any(|word| runs(&word)),
            Some(first) => runs(first) && names.all(|word| word.starts_with('-')),
            None => false,
        }
    }
}

/// Whether a program runs what it is given.
fn runs(name: &str) -> bool {
    const PROGRAMS: [&str; 14] = [
        "sh", "bash", "dash", "zsh", "ksh", "ash", "eval", ".", "source", "python", "python3",
        "node", "ruby", "perl",
    ];
    PROGRAMS.contains(&name)
}

/// A path without `.` and `..`.
pub(super) fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let absolute = if path.starts_with('/') { "/" } else { "" };
    format!("{absolute}{}", parts.join("/"))
}

/// The programs a text starts.
pub(super) fn steps(text: &str, dir: &str) -> Vec<Step> {
    let mut reader = Reader { dir: dir.to_owned(), steps: Vec::new(), depth: 0 };
    reader.read(text, Output::NotRead);
    let mut steps = reader.steps;
    // From the end: what feeds something that feeds a shell does so, too.
    let mut next_runs = false;
    for step in steps.iter_mut().rev() {
        if step.piped && next_runs {
            (step.fed, step.judged) = (true, false);
        }
        next_runs = step.runs_what_comes() || (step.piped && step.fed);
    }
    steps
}

/// What becomes of what a step prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    /// Only how it ends counts.
    NotRead,
    /// Something else looks at it.
    Judged,
    /// It goes on to something that looks at it.
    Piped,
    /// It is run.
    Run,
}

struct Reader {
    dir: String,
    steps: Vec<Step>,
    depth: usize,
}

impl Reader {
    #[expect(clippy::too_many_lines, reason = "a table: one arm per case")]
    fn read(&mut self, text: &str, output: Output) {
        if self.depth >= DEPTH_MAX {
            return;
        }
        self.depth = self.depth.saturating_add(1);
        let joined = text.replace("\\\n", " ");
        let mut step = Open::default();
        let mut chars = joined.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => {
                    if let Some((_, next)) = chars.next() {
                        step.word.push(next);
                    }
                }
                '\'' | '"' => {
                    let end = closing_quote(&joined, at, c);
                    let inner = joined.get(at.saturating_add(1)..end).unwrap_or("");
                    step.word.push_str(inner);
                    step.quoted = true;
                    if c == '"' {
                        self.substitutions(inner, step.inner());
                    }
                    while chars.next_if(|(place, _)| *place <= end).is_some() {}
                }
                '$' if joined.get(at.saturating_add(1)..).is_some_and(|r| r.starts_with('(')) => {
                    let end = closing_bracket(&joined, at.saturating_add(1));
                    let inner = joined.get(at.saturating_add(2)..end).unwrap_or("");
                    if !inner.starts_with('(') {
                        self.read(inner, step.inner());
                    }
                    step.word.push('$');
                    while chars.next_if(|(place, _)| *place <= end).is_some() {}
                }
                '`' => {
                    let from = at.saturating_add(1);
                    let rest = joined.get(from..).unwrap_or("");
                    let end = rest.find('`').map_or(joined.len(), |end| from.saturating_add(end));
                    self.read(joined.get(from..end).unwrap_or(""), step.inner());
                    step.word.push('$');
                    while chars.next_if(|(place, _)| *place <= end).is_some() {}
                }
                '#' if step.word.is_empty() && !step.quoted => {
                    while chars.next_if(|(_, next)| *next != '\n').is_some() {}
                }
                '|' => {
                    let or = chars.next_if(|(_, next)| *next == '|').is_some();
                    self.end(&mut step, if or { output } else { Output::Piped });
                }
                '\n' | ';' | '&' | '(' | ')' => {
                    let redirect = c == '&' && step.redirects;
                    if !redirect {
                        self.end(&mut step, output);
                    }
                }
                '<' if chars.next_if(|(_, next)| *next == '(').is_some() => {
                    let open = at.saturating_add(1);
                    let end = closing_bracket(&joined, open);
                    let inner = joined.get(open.saturating_add(1)..end).unwrap_or("");
                    self.read(inner, step.inner());
                    step.word.push('$');
                    while chars.next_if(|(place, _)| *place <= end).is_some() {}
                }
                '>' | '<' => {
                    // `2>` is about complaints; what is written to a file is looked at later.
                    let to_file = c == '>' && step.word != "2";
                    step.word.clear();
                    step.redirects = true;
                    step.reads = c == '<';
                    step.to_file |= to_file;
                }
                c if c.is_whitespace() => step.end_word(),
                c => step.word.push(c),
            }
        }
        self.end(&mut step, output);
        self.depth = self.depth.saturating_sub(1);
    }

    fn substitutions(&mut self, text: &str, output: Output) {
        let mut from = 0_usize;
        while let Some(at) = text.get(from..).and_then(|rest| rest.find("$(")) {
            let open = from.saturating_add(at).saturating_add(1);
            let end = closing_bracket(text, open);
            let inner = text.get(open.saturating_add(1)..end).unwrap_or("");
            if !inner.starts_with('(') {
                self.read(inner, output);
            }
            from = end.max(open);
        }
    }

    fn end(&mut self, open: &mut Open, output: Output) {
        open.end_word();
        let Open { words, to_file, input, .. } = std::mem::take(open);
        let mut words: Vec<String> = words.into_iter().skip_while(|word| leads(word)).collect();
        while let Some(count) = wrapper(&words) {
            words.drain(..count.min(words.len()));
            words = words.into_iter().skip_while(|word| leads(word)).collect();
        }
        match words.as_slice() {
            [] => return,
            [cd, to] if cd == "cd" => {
                let to = to.trim_end_matches('/');
                if !to.contains('$') {
                    let step = Step { dir: self.dir.clone(), ..Step::default() };
                    self.dir = step.path(to);
                }
                return;
            }
            _ => {}
        }
        if self.steps.len() < STEPS_MAX {
            let output = if to_file { Output::Judged } else { output };
            let inner = inner_text(&words).map(str::to_owned);
            let judged = matches!(output, Output::Judged | Output::Piped);
            let (fed, piped) = (output == Output::Run, output == Output::Piped);
            self.steps.push(Step { dir: self.dir.clone(), words, judged, fed, input, piped });
            if let Some(inner) = inner {
                self.read(&inner, output);
            }
        }
    }
}

/// A step that is still being read.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts that hold or do not, independent of each other"
)]
struct Open {
    words: Vec<String>,
    word: String,
    quoted: bool,
    redirects: bool,
    reads: bool,
    to_file: bool,
    input: Option<String>,
}

impl Open {
    /// What becomes of what a command inside of this one prints.
    fn inner(&self) -> Output {
        let first = self.words.iter().find(|word| runs(word) || !leads(word));
        let first = first.map(|word| word.rsplit('/').next().unwrap_or(word));
        let is_program = first.is_none() && self.word.is_empty() && !self.quoted;
        if is_program || first.is_some_and(runs) { Output::Run } else { Output::Judged }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let is_word = !word.is_empty() || self.quoted;
        if is_word {
            if self.redirects {
                // The place something is written to. Nowhere is no place to look later.
                self.to_file &=
                    !word.starts_with("/dev/") && !word.chars().all(|c| c.is_ascii_digit());
                self.redirects = false;
                if std::mem::take(&mut self.reads) {
                    self.input = Some(word);
                }
            } else {
                self.words.push(word);
            }
        }
        self.quoted = false;
    }
}

/// Words that stand before a program: keywords and variables for it.
fn leads(word: &str) -> bool {
    let is_variable = word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    BEFORE.contains(&word) || is_variable
}

/// How many words a program takes that only starts another.
fn wrapper(words: &[String]) -> Option<usize> {
    let first = words.first()?.as_str();
    let options = words.iter().skip(1).take_while(|word| word.starts_with('-')).count();
    match first {
        "env" | "xvfb-run" | "stdbuf" | "ionice" => Some(options.saturating_add(1)),
        "timeout" => Some(options.saturating_add(2)),
        "uv" | "poetry" | "pipenv" | "hatch" | "pdm" | "bundle" | "rye"
            if words.get(1).is_some_and(|word| word == "run" || word == "exec") =>
        {
            Some(2)
        }
        _ => None,
    }
}

/// The text a shell is handed with `-c`.
fn inner_text(words: &[String]) -> Option<&str> {
    let first = words.first()?.rsplit('/').next()?;
    // A package manager hands it to a shell that finds the package's tools.
    let is_shell = matches!(first, "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash");
    if !is_shell && !super::watched::MANAGERS.contains(&first) {
        return None;
    }
    let at = words
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    words.get(at.saturating_add(1)).map(String::as_str)
}

fn closing_quote(text: &str, open: usize, quote: char) -> usize {
    let from = open.saturating_add(1);
    let mut escaped = false;
    let mut inside = 0_usize;
    for (at, c) in text.get(from..).unwrap_or("").char_indices() {
        let place = from.saturating_add(at);
        if place < inside {
            continue;
        }
        if c == quote && !escaped {
            return place;
        }
        // A command in quotes has quotes of its own.
        let next = place.saturating_add(1);
        if c == '$'
            && quote == '"'
            && !escaped
            && text.get(next..).is_some_and(|r| r.starts_with('('))
        {
            inside = closing_bracket(text, next);
        }
        escaped = c == '\\' && !escaped && quote == '"';
    }
    text.len()
}

fn closing_bracket(text: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.get(open..).unwrap_or("").char_indices() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return open.saturating_add(at);
                }
            }
            _ => {}
        }
    }
    text.len()
}
