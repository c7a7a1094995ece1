//! What the formats that are nobody's own have in common: tools go by their usual names.

use crate::client::registry;
use crate::client::{Output, ReadRequest, Reader, ToolKind, Tools};

/// An agent nobody here knows.
pub(super) struct Foreign;

/// As formats are declared with it.
pub(super) fn output() -> &'static dyn Output {
    &Foreign
}

impl Output for Foreign {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        registry::own_protocol().reader(request)
    }

    fn tools(&self) -> Tools {
        const EDITOR: ToolKind =
            ToolKind::EditsWhen("command", &["create", "insert", "str_replace", "undo_edit"]);
        &[
            ("bash", ToolKind::Runs("command")),
            ("Bash", ToolKind::Runs("command")),
            ("execute_bash", ToolKind::Runs("command")),
            ("exec_command", ToolKind::Runs("cmd")),
            ("run", ToolKind::Runs("command")),
            ("run_command", ToolKind::Runs("command")),
            ("run_shell_command", ToolKind::Runs("command")),
            ("shell", ToolKind::Runs("command")),
            ("terminal", ToolKind::Runs("command")),
            ("bash_command", ToolKind::Runs("keystrokes")),
            ("str_replace_editor", EDITOR),
            ("str_replace_based_edit_tool", EDITOR),
            ("file_editor", EDITOR),
            ("append", ToolKind::Edits),
            ("create", ToolKind::Edits),
            ("replace", ToolKind::Edits),
        ]
    }
}
