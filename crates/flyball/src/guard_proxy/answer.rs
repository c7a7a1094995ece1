//! Messages the guard itself says to the client.

use serde_json::{Value, json};

/// JSON-RPC: the request cannot be taken.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC: the server's own troubles.
pub(super) const SERVER_GONE: i64 = -32000;

/// A tool result that says why the call was not run, without the end of its line.
pub(super) fn refused(id: &Value, why: &str) -> String {
    let message = json!({
        "jsonrpc": "2.0",
        "id": id,
        "result": { "content": [text(why)], "isError": true },
    });
    message.to_string()
}

/// A protocol error.
pub(super) fn error(id: &Value, code: i64, why: &str) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } }))
}

/// A text in a tool result.
pub(super) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}
