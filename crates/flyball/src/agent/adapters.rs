//! All known adapters, by name.

use super::Adapter;

static KNOWN: [&(dyn Adapter + 'static); 11] = [
    &super::claude::Claude,
    &super::codex::Codex,
    &super::gemini::Gemini,
    &super::goose::Goose,
    &super::opencode::Opencode,
    &super::qwen::Qwen,
    &super::copilot::Copilot,
    &super::pi::Pi,
    &super::cline::Cline,
    &super::aider::Aider,
    &super::flyball::Flyball,
];

/// The adapter of this name. Any other program is a [`super::Custom`] one.
pub fn adapter(name: &str) -> Option<&'static dyn Adapter> {
    KNOWN.iter().copied().find(|known| known.name() == name)
}

/// All adapters that have a name.
pub fn adapters() -> impl Iterator<Item = &'static dyn Adapter> {
    KNOWN.iter().copied()
}
