//! A Markdown checklist as stories: each item is one, what is indented below it are its criteria.

use serde_json::{Value, json};

/// The most characters of an item that make a title.
const TITLE_MAX: usize = 200;

/// One line with a box.
struct Item<'a> {
    indent: usize,
    is_done: bool,
    text: &'a str,
}

/// The stories of a checklist; none where no line has a box.
pub(super) fn stories(text: &str) -> Vec<Value> {
    let mut stories: Vec<(usize, Value)> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let Some(item) = item(line).filter(|_| !is_code) else { continue };
        match stories.last_mut() {
            Some((indent, story)) if item.indent > *indent => {
                if let Some(Value::Array(criteria)) = story.get_mut("acceptanceCriteria") {
                    criteria.push(json!(item.text));
                }
            }
            Some(_) | None => {
                let title = flyball_core::text::prefix(item.text, TITLE_MAX);
                let story = json!({
                    "title": title, "acceptanceCriteria": [], "passes": item.is_done,
                });
                stories.push((item.indent, story));
            }
        }
    }
    stories.into_iter().map(|(_, story)| story).collect()
}

fn item(line: &str) -> Option<Item<'_>> {
    let rest = line.trim_start();
    let indent = line.len() - rest.len();
    let numbered = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match rest.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None if numbered.len() < rest.len() => numbered.strip_prefix(['.', ')'])?,
        None => return None,
    };
    let rest = rest.strip_prefix(' ')?.trim_start().strip_prefix('[')?;
    let (mark, rest) = rest.split_at_checked(1)?;
    let text = rest.strip_prefix(']')?.trim();
    let is_done = match mark {
        "x" | "X" => true,
        " " => false,
        _ => return None,
    };
    let text = text.strip_prefix("**").and_then(|text| text.strip_suffix("**")).unwrap_or(text);
    (!text.is_empty()).then_some(Item { indent, is_done, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_stories_and_what_is_below_them_criteria() {
        let text = "# Plan\n\n- [ ] **Add a cart**\n  - [ ] `make cart` is green\n  - [x] it is empty\n\
                    * [X] Show it\n1. [ ] Numbered\n  \n- no box\n- [link](x)\n- [?] odd\n- [ ] \n\
                    ```\n- [ ] code\n```\n";
        let found = stories(text);
        let titles: Vec<&str> = found.iter().map(|one| one["title"].as_str().unwrap()).collect();
        assert_eq!(titles, ["Add a cart", "Show it", "Numbered"]);
        assert_eq!(found[0]["acceptanceCriteria"], json!(["`make cart` is green", "it is empty"]));
        let passed: Vec<bool> = found.iter().map(|one| one["passes"] == json!(true)).collect();
        assert_eq!(passed, [false, true, false]);
        assert!(stories("nothing\n- to [see] here").is_empty());
    }
}
