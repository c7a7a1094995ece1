//! What it prints: flyball's own protocol, with every call it makes.

use super::BuiltIn;
use crate::client::flyball::FlyballStream;
use crate::client::session::StreamSession;
use crate::client::stream::{StreamFormat, StreamReader, Understood};
use crate::client::{Output, ReadRequest, Reader, ToolKind, Tools};

impl Output for BuiltIn {
    fn reader(&self, request: &ReadRequest) -> Box<dyn Reader> {
        let session = StreamSession::new(request, self);
        Box::new(StreamReader::new(
            BuiltInStream { lines: FlyballStream, was_refused: false },
            session,
        ))
    }

    fn tools(&self) -> Tools {
        &[("run", ToolKind::Runs("command")), ("edit", ToolKind::Edits), ("write", ToolKind::Edits)]
    }

    fn tells_cost(&self) -> bool {
        // One without a price refuses a cost limit itself.
        true
    }
}

struct BuiltInStream {
    lines: FlyballStream,
    was_refused: bool,
}

impl StreamFormat for BuiltInStream {
    fn line(&mut self, line: &str, to: &mut StreamSession) -> Understood {
        if std::mem::take(&mut self.was_refused) {
            // What was said before a refused stop is not its last word.
            to.interrupted();
        }
        self.lines.line(line, to)
    }

    fn refused_stop(&mut self, _said: &str) {
        self.was_refused = true;
    }
}
