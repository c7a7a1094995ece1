//! The file rule: files that must exist.

use flyball_core::text;

use super::{Judged, Require};
use crate::mcp::site::Site;

pub(super) fn run(site: &Site, paths: &[String], require: Require) -> Judged {
    let missing: Vec<&str> =
        paths.iter().map(String::as_str).filter(|path| !site.path(path).exists()).collect();
    let found = paths.len().saturating_sub(missing.len());
    let named = missing.join(", ");
    match require {
        Require::All if missing.is_empty() => {
            Judged::passed(format!("{} found", text::count(found as u64, "file")))
        }
        Require::Any if found > 0 => Judged::passed(format!("{found} of {} found", paths.len())),
        Require::Any => Judged::failed(format!("none of these exists: {named}")),
        Require::All => {
            #[expect(clippy::cast_precision_loss, reason = "a handful of files")]
            let share = found as f64 / paths.len() as f64;
            Judged::partly(share, format!("missing: {named}"))
        }
    }
}
