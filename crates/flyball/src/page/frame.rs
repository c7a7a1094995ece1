//! What stands around every page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("../../assets/page.css");

/// Where the style comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// It stands in the page: a file for itself.
    Inside,
}

/// A whole page.
pub(crate) fn frame(title: &str, when: &str, style: Style, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                @match style {
                    Style::Inside => {
                        // Nothing is fetched, whatever stands in the page.
                        meta http-equiv="Content-Security-Policy"
                            content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
                        // Ours, from this program; nothing of a run is in it.
                        style { (PreEscaped(STYLE)) }
                    }
                }
                title { (title) }
            }
            body {
                header.top { span.brand { (logo()) "flyball" } span.when { (when) } }
                main { (body) }
            }
        }
    }
}

/// Two balls that swing out as the shaft turns.
pub(crate) fn logo() -> Markup {
    html! {
        svg.logo viewBox="0 0 24 24" aria-hidden="true" {
            path d="M12 3v18M12 5 5.5 12M12 5l6.5 7M8 15l4 4 4-4" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" {}
            circle cx="5" cy="13" r="2.6" fill="currentColor" {}
            circle cx="19" cy="13" r="2.6" fill="currentColor" {}
        }
    }
}
