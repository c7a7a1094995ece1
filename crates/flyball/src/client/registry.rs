//! All known clients, one line each.

use super::hook::Dialect;
use super::{Adapter, Output};

/// Lists clients by folder and type; each folder says its client's name.
macro_rules! clients {
    ($($(#[$when:meta])* $folder:ident::$client:ident),* $(,)?) => {
        static STARTED_BY_NAME: [&(dyn Adapter + 'static); NAMES.len()] =
            [$($(#[$when])* &super::$folder::$client),*];

        /// The clients flyball knows how to start, those first that are looked for first.
        pub const NAMES: &[&str] = &[$($(#[$when])* super::$folder::NAME),*];

        /// How output can be read: the words of `agent.output`.
        pub(crate) const OUTPUTS: &[&str] =
            &["auto", "text", super::flyball::NAME, $($(#[$when])* super::$folder::NAME),*];
    };
}

clients! {
    claude::Claude,
    codex::Codex,
    gemini::Gemini,
    opencode::Opencode,
    qwen::Qwen,
    goose::Goose,
    copilot::Copilot,
    pi::Pi,
    cline::Cline,
    aider::Aider,
    #[cfg(feature = "session")]
    built_in::BuiltIn,
}

/// The adapter of this name. Any other program is a [`super::Custom`] one.
pub fn adapter(name: &str) -> Option<&'static dyn Adapter> {
    adapters().find(|known| known.name() == name)
}

/// All adapters that have a name; the last is for home-made agents that speak flyball's protocol.
pub fn adapters() -> impl Iterator<Item = &'static dyn Adapter> {
    let home_made: &dyn Adapter = &super::flyball::Flyball;
    STARTED_BY_NAME.iter().copied().chain([home_made])
}

/// How flyball's own protocol is read.
pub(crate) fn own_protocol() -> &'static dyn Output {
    &super::flyball::Flyball
}

/// Whether the agent of this name is flyball itself.
pub(crate) fn is_built_in(name: &str) -> bool {
    adapter(name).is_some_and(Adapter::is_built_in)
}

/// How what this client prints is read.
pub(crate) fn output(name: &str) -> Option<&'static dyn Output> {
    adapter(name).map(Adapter::output)
}

/// The dialect of this client's hooks.
pub fn dialect(name: &str) -> Option<&'static dyn Dialect> {
    adapter(name).and_then(Adapter::dialect)
}

/// All dialects.
pub fn dialects() -> impl Iterator<Item = &'static dyn Dialect> {
    adapters().filter_map(Adapter::dialect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_found_by_the_one_name_it_has() {
        for name in NAMES {
            assert_eq!(adapter(name).map(Adapter::name), Some(*name));
            assert!(OUTPUTS.contains(name));
        }
        for known in adapters() {
            assert!(known.dialect().is_none_or(|dialect| dialect.name() == known.name()));
            assert!(known.hook_home().is_none() || known.takes_hooks(), "{}", known.name());
        }
        assert!(adapter("custom").is_none() && adapter("").is_none());
    }
}
