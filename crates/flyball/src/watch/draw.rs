//! A frame: what is read and what is typed, put together.

use flyball_core::Moment;
use ratatui::Frame;

use super::board::Board;
use super::state::State;
use super::tint::Look;
use super::{boxes, list, run};
use crate::view::RunView;

/// Everything a frame shows.
#[derive(Debug)]
pub struct Scene<'s> {
    /// What the journal says.
    pub board: &'s Board,
    /// What the person looks at.
    pub state: &'s State,
    /// The run that is opened.
    pub run: Option<&'s RunView>,
    /// The run before it, where both are compared.
    pub before: Option<&'s RunView>,
    /// What the terminal can show.
    pub look: Look,
    /// When.
    pub now: Moment,
}

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, scene: &Scene<'_>) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    match (scene.state.open(), scene.run) {
        (Some(_), Some(view)) => run::draw(buffer, area, scene, view),
        (Some(_), None) | (None, _) => list::draw(buffer, area, scene),
    }
    boxes::draw(buffer, area, scene);
    scene.look.finish(buffer);
}
