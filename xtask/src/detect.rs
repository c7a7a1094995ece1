//! `cargo xtask detect`: the core's call ring on recorded runs.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};
use flyball_testkit::detect::{Guards, Recording, Table, firings, play_vectors, read, recordings};

use crate::say;

/// What was asked for.
#[derive(Default)]
struct Order {
    file: Option<String>,
    firings: Option<String>,
    vectors: Option<String>,
}

/// Runs the chore.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let order = order(words)?;
    if let Some(path) = &order.vectors {
        let text = fs::read_to_string(path).with_context(|| path.clone())?;
        say(play_vectors(&text)?.to_string().trim_end());
        return Ok(());
    }
    let runs = match &order.file {
        Some(path) => read(&fs::read(path).with_context(|| path.clone())?)?,
        None => recordings(1)?,
    };
    let expected = match &order.firings {
        Some(path) => expected(&fs::read_to_string(path).with_context(|| path.clone())?)?,
        None => runs.iter().filter_map(|run| Some((run.id.clone(), run.account?))).collect(),
    };
    for (guards, name) in [
        (Guards::AccountAlone, "the evidence account alone (A3)"),
        (Guards::All, "all guards together"),
    ] {
        say(&format!("{name}, {} runs", runs.len()));
        say(Table::of(&runs, guards).to_string().trim_end());
    }
    compare(&runs, &expected)
}

fn order(words: &[String]) -> Result<Order> {
    let mut order = Order::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut path = || words.next().cloned().with_context(|| format!("`{word}` needs a file"));
        match word.as_str() {
            "--firings" => order.firings = Some(path()?),
            "--vectors" => order.vectors = Some(path()?),
            flag if flag.starts_with('-') => {
                bail!("`{flag}` is not known to `detect`; it takes FILE, --firings and --vectors")
            }
            file => order.file = Some(file.to_owned()),
        }
    }
    Ok(order)
}

type Expected = BTreeMap<String, [Option<u64>; 3]>;

/// Expected firings, one JSON object per run.
fn expected(text: &str) -> Result<Expected> {
    let mut expected = Expected::new();
    for line in text.lines() {
        let value: serde_json::Value = serde_json::from_str(line)?;
        let id =
            value.get("id").and_then(serde_json::Value::as_str).context("a line without id")?;
        let step = |name: &str| value.get(name).and_then(serde_json::Value::as_u64);
        expected.insert(id.to_owned(), ["nudge", "refuse", "halt"].map(step));
    }
    Ok(expected)
}

/// The account alone must speak exactly when its reference does.
fn compare(runs: &[Recording], expected: &Expected) -> Result<()> {
    if expected.is_empty() {
        say("no expected firings to compare with");
        return Ok(());
    }
    let mut differing = 0;
    let mut compared = 0;
    for run in runs {
        let Some(wanted) = expected.get(&run.id) else { continue };
        compared += 1;
        let fired = firings(run, Guards::AccountAlone).as_array();
        if fired != *wanted {
            differing += 1;
            say(&format!("{}: {fired:?}, expected {wanted:?}", run.id));
        }
    }
    if differing > 0 {
        bail!("{differing} of {compared} runs differ");
    }
    say(&format!("first firings of the account alone: equal in all {compared} runs compared"));
    Ok(())
}
