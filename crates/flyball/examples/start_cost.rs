//! What the shield and a workspace cost when a program is started: the same program, started plainly
//! and behind walls, one after the other in the same run.
//!
//! `cargo run --release -p flyball --example start_cost` (needs namespaces; prints milliseconds).

#![expect(clippy::print_stdout, reason = "it is what the example is for")]

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use flyball::platform::{InPlace, Walls};
use flyball::process::{ProcessEvent, Spec, StartError, Supervised};

/// Starts of each kind.
const STARTS: usize = 200;

fn main() -> ExitCode {
    if let Some(code) = flyball::process::serve_keeper_if_asked() {
        return code;
    }
    match measure() {
        Ok(table) => {
            println!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Result<String, Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let place = |name: &str| -> std::io::Result<PathBuf> {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path)?;
        path.canonicalize()
    };
    let (state, secrets, empty) = (place("state")?, place("state/secrets")?, place("state/empty")?);
    let shield = Walls {
        read_only: vec![state, place("config")?],
        in_place: vec![InPlace { shown: empty, at: secrets }],
        ..Walls::default()
    };
    let islands = ["repo", "cache", "client", "tmp"].map(place);
    let workspace = Walls {
        writable: Some(islands.into_iter().collect::<Result<_, _>>()?),
        hidden: (0..12).map(|n| place(&format!("secret-{n}"))).collect::<Result<_, _>>()?,
        ..shield.clone()
    };
    let kinds = [("plain", None), ("shield", Some(shield)), ("workspace", Some(workspace))];
    let mut spans: [Vec<Duration>; 3] = Default::default();
    for _ in 0..STARTS {
        for ((_, walls), spans) in kinds.iter().zip(&mut spans) {
            spans.push(start(walls.as_ref())?);
        }
    }
    let mut table = String::from("             p50 ms   p99 ms   p50 above plain\n");
    let plain = quantile(&mut spans[0].clone(), 50);
    for ((name, _), spans) in kinds.iter().zip(&mut spans) {
        let (half, most) = (quantile(spans, 50), quantile(spans, 99));
        let above = half - plain;
        writeln!(table, "{name:<10} {half:>8.2} {most:>8.2} {above:>8.2}")?;
    }
    Ok(table)
}

/// From the start of a keeper until its program runs.
#[expect(clippy::disallowed_methods, reason = "a figure is measured")]
fn start(walls: Option<&Walls>) -> Result<Duration, StartError> {
    let mut spec = Spec::new("true", std::env::temp_dir());
    spec.walls = walls.cloned();
    let (sender, ended) = channel();
    let begun = Instant::now();
    let process = Supervised::start(&spec, move |event| {
        if let ProcessEvent::Exited { .. } = event {
            sender.send(()).ok();
        }
    })?;
    let span = begun.elapsed();
    ended.recv_timeout(Duration::from_mins(1)).ok();
    drop(process);
    Ok(span)
}

fn quantile(spans: &mut [Duration], percent: usize) -> f64 {
    spans.sort_unstable();
    let at = (spans.len() * percent / 100).min(spans.len().saturating_sub(1));
    spans.get(at).map_or(0.0, |span| span.as_secs_f64() * 1000.0)
}
