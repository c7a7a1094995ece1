//! Asks a model one question and shows the answer while it comes.
//!
//! `cargo run -p flyball-models --example ask -- ollama qwen3 "What is a governor?" [URL]`

use std::io::Write as _;
use std::time::SystemTime;

use flyball_models::{
    Cancel, Event, Key, Message, Model, Patience, Request, Retries, Settings, service, services,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(model), Some(question)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        let names: Vec<&str> = services().iter().map(|service| service.name).collect();
        return Err(format!("ask SERVICE MODEL QUESTION [URL], SERVICE one of {names:?}").into());
    };
    let service = service(&name).ok_or_else(|| format!("no service `{name}`"))?;
    let key = match service.key_variables {
        [] => Key::none(),
        variables => Key::from_environment(variables)?,
    };
    let mut settings = Settings::of(service, &model, key);
    settings.url = arguments.next().unwrap_or(settings.url);
    let model = Model::new(settings)?;

    let conversation = [Message::user(question)];
    let patience = Patience { retries: Retries::default(), now: &now };
    let mut out = std::io::stdout().lock();
    let reply = model.ask_patiently(
        &Request::new(&conversation),
        &Cancel::new(),
        &patience,
        &mut |event| {
            if let Event::Text(words) | Event::Thinking(words) = event {
                drop(write!(out, "{words}").and_then(|()| out.flush()));
            }
            if let Event::Again { failure, wait, .. } = event {
                drop(writeln!(out, "\n{failure}; once more in {wait:?}"));
            }
        },
    )?;
    writeln!(out, "\n{:?}: {:?}", reply.stop, reply.usage)?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "an example is its own shell")]
fn now() -> SystemTime {
    SystemTime::now()
}
