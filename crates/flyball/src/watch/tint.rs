//! How a frame looks: colours where they are wanted, plain marks where the terminal knows no others,
//! and in no case a character that would drive the terminal.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

use crate::terminal;

/// What the terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether colours are wanted.
    pub color: bool,
    /// Whether it knows more than ASCII.
    pub unicode: bool,
}

impl Look {
    /// What the environment says: the first of these variables that is set decides.
    #[expect(clippy::fn_params_excessive_bools, reason = "what the flags said")]
    pub fn of_environment(color: bool) -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        Self { color, unicode: locale.is_some_and(|locale| knows_unicode(&locale)) }
    }

    /// Makes every cell one that may be sent.
    pub(super) fn finish(self, buffer: &mut Buffer) {
        for cell in &mut buffer.content {
            if !cell.symbol().is_ascii() || cell.symbol().contains(|c: char| c.is_ascii_control()) {
                let symbol = self.symbol(cell.symbol());
                cell.set_symbol(&symbol);
            }
            if !self.color {
                cell.set_style(Style::new().fg(Color::Reset).bg(Color::Reset));
            }
        }
    }

    fn symbol(self, symbol: &str) -> String {
        let is_safe = terminal::plain(symbol) == symbol && !symbol.contains(char::is_control);
        match (is_safe, self.unicode) {
            (true, true) => symbol.to_owned(),
            (true, false) => ascii(symbol).to_owned(),
            (false, _) => "?".to_owned(),
        }
    }
}

fn knows_unicode(locale: &str) -> bool {
    let locale = locale.to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// A mark in ASCII.
#[expect(clippy::match_same_arms, reason = "a table, read line by line")]
fn ascii(symbol: &str) -> &'static str {
    match symbol {
        "●" => "*",
        "◌" => "o",
        "▇" => "#",
        "▅" => "+",
        "▁" => "_",
        "■" => "X",
        "✓" => "v",
        "✗" => "x",
        "▓" => "=",
        "░" => "-",
        "·" => ".",
        "…" => "~",
        "›" => ">",
        "↵" => "E",
        "←" => "<",
        "→" => ">",
        "↑" => "^",
        "↓" => "v",
        "│" => "|",
        "─" => "-",
        "“" | "”" => "\"",
        "×" => "x",
        "–" | "—" => "-",
        _ => "?",
    }
}

/// Somebody must do something.
pub(super) fn needs() -> Style {
    Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD)
}

/// At work.
pub(super) fn work() -> Style {
    Style::new().fg(Color::Blue)
}

/// It went well.
pub(super) fn good() -> Style {
    Style::new().fg(Color::Green)
}

/// It did not.
pub(super) fn bad() -> Style {
    Style::new().fg(Color::Red)
}

/// It matters less.
pub(super) fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

/// A heading.
pub(super) fn strong() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// What is chosen.
pub(super) fn chosen() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;

    #[test]
    fn no_cell_drives_the_terminal_whatever_was_put_in() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 6, 1));
        for (x, symbol) in (0..).zip(["\u{1b}", "\u{9b}", "\u{202e}", "●", "日", "a\u{7}"]) {
            buffer[(x, 0)].set_symbol(symbol);
        }
        let mut plain = buffer.clone();
        Look { color: true, unicode: true }.finish(&mut buffer);
        let shown: Vec<&str> = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(shown, ["?", "?", "?", "●", "日", "?"]);
        Look { color: false, unicode: false }.finish(&mut plain);
        let shown: Vec<&str> = plain.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(shown, ["?", "?", "?", "*", "?", "?"]);
    }

    #[test]
    fn the_locale_says_what_the_terminal_knows() {
        for (locale, known) in
            [("en_GB.UTF-8", true), ("C.utf8", true), ("C", false), ("de_DE.ISO-8859-1", false)]
        {
            assert_eq!(knows_unicode(locale), known, "{locale}");
        }
    }
}
