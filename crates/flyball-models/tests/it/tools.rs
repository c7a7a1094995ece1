//! What all tests here use.

use flyball_models::{
    Cancel, Event, Failure, Key, Limits, Message, Model, Reply, Request, Settings, Tool, Wire,
    services,
};
use serde_json::json;

pub(crate) const KEY: &str = "sk-very-secret-123";
pub(crate) const WIRES: [Wire; 4] = [Wire::Anthropic, Wire::Responses, Wire::Chat, Wire::Gemini];

pub(crate) fn settings(wire: Wire, url: &str) -> Settings {
    let service = services().iter().find(|service| service.wire == wire).unwrap();
    let mut settings = Settings::of(service, "mock-model", Key::new(KEY, "TEST_KEY").unwrap());
    url.clone_into(&mut settings.url);
    settings
}

pub(crate) fn model(wire: Wire, url: &str) -> Model {
    Model::new(settings(wire, url)).unwrap()
}

pub(crate) fn within(wire: Wire, url: &str, change: impl FnOnce(&mut Limits)) -> Model {
    let mut settings = settings(wire, url);
    change(&mut settings.limits);
    Model::new(settings).unwrap()
}

pub(crate) fn tools() -> Vec<Tool> {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = |name: &str| Tool {
        name: name.to_owned(),
        description: "reads".to_owned(),
        schema: schema.clone(),
    };
    vec![tool("read"), tool("list")]
}

/// Asks with tools, and gives what was streamed beside what was answered.
pub(crate) fn ask(model: &Model, messages: &[Message]) -> (Result<Reply, Failure>, String) {
    let tools = tools();
    let mut request = Request::new(messages);
    request.tools = &tools;
    request.system = "You are a test.";
    let mut streamed = String::new();
    let reply = model.ask(&request, &Cancel::new(), &mut |event| {
        let piece = match event {
            Event::Text(words) => words.to_owned(),
            Event::Thinking(words) => format!("({words})"),
            Event::CallReady { call, .. } => format!("<{}>", call.name),
            Event::Alive { .. }
            | Event::Started { .. }
            | Event::CallBegan { .. }
            | Event::CallArguments { .. }
            | Event::Usage(_)
            | Event::Again { .. } => String::new(),
        };
        streamed.push_str(&piece);
    });
    (reply, streamed)
}

pub(crate) fn fails(model: &Model) -> Failure {
    ask(model, &[Message::user("go")]).0.unwrap_err()
}
