//! How clients built on one JSON schema library (gemini and its descendants) say that arguments do
//! not fit.

use flyball_core::call::ValidationKind;

/// What is wrong with the arguments; none when the text is about something else.
pub(crate) fn schema_error(text: &str) -> Option<ValidationKind> {
    let rest = text.strip_prefix("params")?;
    if rest.starts_with(" must have required property") {
        Some(ValidationKind::MissingField)
    } else {
        rest.contains(" must ").then_some(ValidationKind::WrongType)
    }
}
