//! What stands around every page of the window.

use axum::http::StatusCode;
use maud::{DOCTYPE, Markup, html};

use super::ticked;
use crate::page::logo;
use crate::serve::window::Problem;

/// Where a page belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Runs,
    Tasks,
    Guards,
}

/// A whole page. `asks` is how many things need a human.
pub(super) fn frame(title: &str, place: Place, asks: usize, body: &Markup) -> Markup {
    let title = if asks > 0 { format!("({asks}) {title}") } else { title.to_owned() };
    let link = |to: &str, name: &str, of: Place| {
        let current = (of == place).then_some("page");
        let badge = of == Place::Runs && asks > 0;
        html! {
            a href=(to) aria-current=[current] {
                (name)
                @if badge { span.badge { (asks) span.vh { " need you" } } }
            }
        }
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title, Some("/page.js")))
            body {
                a.skip href="#main" { "Skip to content" }
                header.top {
                    a.brand href="/" { (logo()) "flyball" }
                    nav #nav data-live aria-label="Pages" {
                        (link("/", "Runs", Place::Runs))
                        (link("/tasks", "Tasks", Place::Tasks))
                        (link("/guards", "Guards", Place::Guards))
                    }
                    span #live .live role="status" { "not live" }
                }
                main #main { (body) }
            }
        }
    }
}

fn head(title: &str, script: Option<&str>) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width,initial-scale=1";
            meta name="color-scheme" content="light dark";
            link rel="icon" href="/favicon.ico" type="image/svg+xml";
            link rel="stylesheet" href="/page.css";
            @if let Some(script) = script { script src=(script) defer {} }
            title { (title) " · flyball" }
        }
    }
}

/// Says why something cannot be answered.
pub(in crate::serve) fn problem(problem: &Problem) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&problem.error, None))
            body {
                header.top { a.brand href="/" { (logo()) "flyball" } }
                main {
                    p.crumb { (problem.status.as_u16()) }
                    h1 { (ticked(&problem.error)) }
                    @if !problem.hint.is_empty() { p.why { (ticked(&problem.hint)) } }
                    @if problem.status == StatusCode::NOT_FOUND { p.row { a.btn href="/" { "All runs" } } }
                }
            }
        }
    }
}

/// A page that leads on by itself.
pub(in crate::serve) fn goes_on() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0;url=/";
                title { "flyball" }
            }
            body { main { p { a href="/" { "On to the runs" } } } }
        }
    }
}

/// The mark, for the browser's tab.
pub(in crate::serve) fn icon() -> Markup {
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" {
            g fill="#2f6fdd" stroke="#2f6fdd" stroke-width="1.8" stroke-linecap="round" {
                path d="M12 3v18M12 5 5.5 12M12 5l6.5 7M8 15l4 4 4-4" fill="none" {}
                circle cx="5" cy="13" r="2.2" {}
                circle cx="19" cy="13" r="2.2" {}
            }
        }
    }
}
