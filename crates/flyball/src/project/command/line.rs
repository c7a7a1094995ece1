//! A line for the shell, taken apart into the commands it starts, as far as that can be told without a
//! shell. Each keeps its place in the line, so that one of them can be changed and the rest stays.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

/// A word, as it is written and as a program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) raw: String,
    pub(super) value: String,
}

impl Word {
    /// A word that needs no quotes.
    pub(super) fn plain(text: &str) -> Self {
        Self { raw: text.to_owned(), value: text.to_owned() }
    }

    /// Whether it sets a variable for what follows.
    pub(super) fn assigns(&self) -> bool {
        self.value.split_once('=').is_some_and(|(name, _)| {
            let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
            name.starts_with(begins) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    }
}

/// What stands between a command and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// `;`, `&`, the end of a line, or nothing.
    Then,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|`
    Pipe,
}

/// One command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) words: Vec<Word>,
    /// Where it is in the line.
    pub(super) at: Range<usize>,
    pub(super) before: Joint,
    /// A subshell has ended before it.
    pub(super) leaves_group: bool,
}

/// A line, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) parts: Vec<Part>,
    /// It has subshells or compound commands, so that only the shell knows which part decides.
    pub(super) is_nested: bool,
}

/// Words that open or close a compound command.
const COMPOUND: [&str; 15] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "{",
    "}", "select",
];

impl Line {
    /// Takes a line apart; nothing when it holds what only a shell could follow.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut reader = Reader {
            text,
            chars: text.char_indices().peekable(),
            line: Self::default(),
            words: Vec::new(),
            at: 0..0,
            before: Joint::Then,
            leaves_group: false,
        };
        reader.read()?;
        Some(reader.line)
    }

    /// Whether it can end with a failure, where each of its commands can or cannot.
    pub(super) fn can_fail(&self, part_can: &[bool]) -> bool {
        let any = part_can.iter().any(|can| *can);
        if self.is_nested || self.parts.iter().any(stops_at_failure) || self.parts.is_empty() {
            return any || self.parts.is_empty();
        }
        if self.parts.iter().zip(part_can).any(|(part, can)| *can && ends(part)) {
            return true;
        }
        let (mut list, mut left) = (false, false);
        for (part, can) in self.parts.iter().zip(part_can) {
            (left, list) = match part.before {
                Joint::Then => (false, *can),
                Joint::And => (list, list || *can),
                Joint::Or => (list, list && *can),
                // Of a pipe the last command decides, together with what stands before the pipe.
                Joint::Pipe => (left, left || *can),
            };
        }
        list
    }
}

/// `set -e`.
fn stops_at_failure(part: &Part) -> bool {
    let mut words = part.words.iter().map(|word| word.value.as_str());
    words.next() == Some("set")
        && words.any(|word| {
            word == "errexit" || (word.starts_with('-') && word.contains('e') && word.len() < 6)
        })
}

/// `exit 1`, wherever it stands.
fn ends(part: &Part) -> bool {
    part.words.first().is_some_and(|word| word.value == "exit")
}

struct Reader<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    line: Line,
    words: Vec<Word>,
    at: Range<usize>,
    before: Joint,
    leaves_group: bool,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        while let Some(&(at, c)) = self.chars.peek() {
            match c {
                '#' => while self.chars.next_if(|(_, c)| *c != '\n').is_some() {},
                '&' if self.text.get(at..).is_some_and(|rest| rest.starts_with("&>")) => {
                    self.word(at)?;
                }
                '\n' | ';' | '&' | '|' | '(' | ')' => self.operator()?,
                '\\' if self.text.get(at..).is_some_and(|rest| rest.starts_with("\\\n")) => {
                    self.chars.next();
                    self.chars.next();
                }
                c if c.is_whitespace() => drop(self.chars.next()),
                _ => self.word(at)?,
            }
        }
        self.end(Joint::Then);
        Some(())
    }

    fn operator(&mut self) -> Option<()> {
        let (_, c) = self.chars.next()?;
        let is_double = self.chars.next_if(|(_, next)| *next == c).is_some();
        match (c, is_double) {
            // Behind a word it defines a function; doubled it is arithmetic.
            ('(', _) if is_double || !self.words.is_empty() => return None,
            ('(', _) => self.line.is_nested = true,
            (')', _) => {
                self.end(Joint::Then);
                self.leaves_group = true;
            }
            ('&', true) => self.end(Joint::And),
            ('|', true) => self.end(Joint::Or),
            ('|', false) => {
                self.chars.next_if(|(_, next)| *next == '&');
                self.end(Joint::Pipe);
            }
            ('\n', _) if self.words.is_empty() => {}
            _ => self.end(Joint::Then),
        }
        Some(())
    }

    /// Ends a command; what follows is joined to it like this.
    fn end(&mut self, next: Joint) {
        if !self.words.is_empty() {
            let words = std::mem::take(&mut self.words);
            let leaves_group = std::mem::take(&mut self.leaves_group);
            let is_compound = |word: &Word| COMPOUND.contains(&word.value.as_str());
            self.line.is_nested |= words.first().is_some_and(is_compound);
            let (at, before) = (self.at.clone(), self.before);
            self.line.parts.push(Part { words, at, before, leaves_group });
        }
        self.before = next;
    }

    fn word(&mut self, start: usize) -> Option<()> {
        let mut value = String::new();
        let mut redirects = false;
        while let Some(&(at, c)) = self.chars.peek() {
            match c {
                '&' if at == start => drop(self.chars.next()),
                ';' | '&' | '|' | '(' | ')' => break,
                c if c.is_whitespace() => break,
                '\'' => {
                    self.chars.next();
                    self.until('\'', &mut value)?;
                }
                '"' => {
                    self.chars.next();
                    self.double_quoted(&mut value)?;
                }
                '\\' => {
                    self.chars.next();
                    value.extend(self.chars.next().map(|(_, c)| c).filter(|c| *c != '\n'));
                }
                '$' | '`' => self.substituted(&mut value)?,
                '<' | '>' => {
                    redirects = true;
                    self.redirect()?;
                }
                c => {
                    self.chars.next();
                    value.push(c);
                }
            }
        }
        let end = self.chars.peek().map_or(self.text.len(), |(at, _)| *at);
        if self.words.is_empty() {
            self.at.start = start;
        }
        self.at.end = end;
        let value = if redirects { ">".to_owned() } else { value };
        self.words.push(Word { raw: self.text.get(start..end)?.to_owned(), value });
        Some(())
    }

    /// All up to this character, which must come.
    fn until(&mut self, end: char, value: &mut String) -> Option<()> {
        loop {
            match self.chars.next()? {
                (_, c) if c == end => return Some(()),
                (_, c) => value.push(c),
            }
        }
    }

    fn double_quoted(&mut self, value: &mut String) -> Option<()> {
        loop {
            match self.chars.peek()?.1 {
                '"' => {
                    self.chars.next();
                    return Some(());
                }
                '\\' => {
                    self.chars.next();
                    value.push(self.chars.next()?.1);
                }
                '$' | '`' => self.substituted(value)?,
                c => {
                    self.chars.next();
                    value.push(c);
                }
            }
        }
    }

    /// `$x`, `${x}`, `$(x)` and `` `x` ``, kept as they are written.
    fn substituted(&mut self, value: &mut String) -> Option<()> {
        let (_, first) = self.chars.next()?;
        value.push(first);
        if first == '`' {
            self.until('`', value)?;
            value.push('`');
            return Some(());
        }
        let close = match self.chars.peek() {
            Some((_, '(')) => ')',
            Some((_, '{')) => '}',
            _ => return Some(()),
        };
        let mut depth = 0_usize;
        loop {
            let (_, c) = self.chars.next()?;
            value.push(c);
            if c == close {
                depth = depth.saturating_sub(1);
            } else if (c, close) == ('(', ')') || (c, close) == ('{', '}') {
                depth = depth.saturating_add(1);
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// The operator of a redirection and the blanks behind it; its target is the rest of the word.
    fn redirect(&mut self) -> Option<()> {
        let mut operator = String::new();
        while let Some((_, c)) = self.chars.next_if(|(_, c)| "<>&|".contains(*c)) {
            operator.push(c);
        }
        while self.chars.next_if(|(_, c)| *c == ' ').is_some() {}
        // A text in the line, or a command in the place of a file.
        let is_beyond =
            operator.starts_with("<<") || self.chars.peek().is_some_and(|(_, c)| *c == '(');
        (!is_beyond).then_some(())
    }
}
