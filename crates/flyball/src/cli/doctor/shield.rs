//! What holds the agent here, and what to type where it cannot be had.

use super::finding::Report;
use crate::config::Config;
use crate::journal;
use crate::platform;
use crate::sandbox::{Sandbox, Shield, docker_note};

/// What an older kernel cannot keep a run's programs from.
const LOOSE_SIGNALS: &str = "this kernel lets what a run starts kill flyball and its keeper at once; what \
                             is left then is ended by the next run there, and named here";

/// The shield as a run would have it, and what goes round it.
pub(super) fn shield(report: &mut Report, config: &Config) {
    // What is wrong with the folder itself is the journal's to say.
    let Ok(state_dir) = journal::state_dir() else { return };
    let sandbox = match Sandbox::decide(&config.sandbox, &state_dir) {
        Ok(sandbox) => sandbox,
        Err(error) => return report.error("shield", &error, "flyball config --origin"),
    };
    match sandbox.shield() {
        Shield::On(means) => {
            let root = platform::own_user() == 0;
            let limit =
                if root { "; as root it is against mistakes, not against intent" } else { "" };
            report.ok("shield", format!("on ({}){limit}", means.as_str()));
            if !platform::can_keep_signals_inside() {
                report.warn("signals", LOOSE_SIGNALS, "Linux 6.12 or newer");
            }
        }
        Shield::Off { text, remedy } => report.warn("shield", text.clone(), *remedy),
        Shield::Unwanted => report.warn(
            "shield",
            "off: what an agent does to flyball's state folder is watched, not prevented",
            "take `shield = \"off\"` out of [sandbox]",
        ),
    }
    if let (Shield::On(_), Some(note)) = (sandbox.shield(), docker_note(&[])) {
        report.warn("docker", note, "sandbox.hide = [\"/run/docker.sock\"]");
    }
}
