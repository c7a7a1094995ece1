//! A message to a collector. Only its status is looked at: some answer protobuf with JSON.

use prost::Message;
use ureq::Agent;

use super::target::Target;

/// Why something was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SendError {
    /// Nobody answered, or not in time.
    Unreachable(String),
    /// It answered, and takes no such thing.
    Unwanted(u16),
    /// It answered that it could not take it.
    Refused(u16),
}

impl SendError {
    /// In words.
    pub(super) fn words(&self, address: &str) -> String {
        // What stands before the host may be a key.
        let place = address.rsplit('@').next().unwrap_or(address);
        match self {
            Self::Unreachable(why) => format!("{place} cannot be reached: {why}"),
            Self::Unwanted(status) | Self::Refused(status) => {
                format!("{place} answers with status {status}")
            }
        }
    }
}

/// Sends messages.
#[derive(Debug)]
pub(super) struct Sender {
    agent: Agent,
    headers: Vec<(String, String)>,
}

impl Sender {
    pub(super) fn new(target: &Target) -> Self {
        let config = Agent::config_builder()
            .timeout_global(Some(target.timeout))
            .http_status_as_error(false)
            .build();
        Self { agent: Agent::new_with_config(config), headers: target.headers.clone() }
    }

    pub(super) fn send(&self, address: &str, message: &impl Message) -> Result<(), SendError> {
        let request = self.agent.post(address).content_type("application/x-protobuf");
        let request =
            self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = request
            .send(message.encode_to_vec())
            .map_err(|error| SendError::Unreachable(error.to_string()))?;
        match answer.status().as_u16() {
            200..300 => Ok(()),
            status @ (404 | 405 | 415 | 501) => Err(SendError::Unwanted(status)),
            status => Err(SendError::Refused(status)),
        }
    }
}
