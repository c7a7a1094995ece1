//! Variables that hold secrets are taken out; the way to the proxy is put in.

use crate::client::needs;

/// How the names of secrets end.
const ENDINGS: [&str; 4] = ["_TOKEN", "_KEY", "_SECRET", "_PASSWORD"];
/// Names that lead to secrets, or to somebody who has them.
const NAMES: [&str; 2] = ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"];
/// How such names begin.
const BEGINNINGS: [&str; 1] = ["AWS_"];

/// The variables to take out, of these.
pub(super) fn scrubbed(
    names: impl Iterator<Item = String>,
    keep: &[String],
    clients: &[&str],
) -> Vec<(String, Option<String>)> {
    let is_needed = |name: &str| {
        keep.iter().any(|kept| kept == name)
            || clients.iter().any(|client| needs::of(client).variables.contains(&name))
    };
    names.filter(|name| is_secret(name) && !is_needed(name)).map(|name| (name, None)).collect()
}

fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ENDINGS.iter().any(|ending| upper.ends_with(ending))
        || NAMES.contains(&name)
        || BEGINNINGS.iter().any(|beginning| upper.starts_with(beginning))
}

/// Where programs find the proxy.
pub(super) fn proxied() -> Vec<(String, Option<String>)> {
    let proxy = format!("http://127.0.0.1:{}", super::PROXY_PORT);
    let own = "127.0.0.1,localhost";
    [
        ("HTTP_PROXY", proxy.as_str()),
        ("HTTPS_PROXY", &proxy),
        ("http_proxy", &proxy),
        ("https_proxy", &proxy),
        ("NO_PROXY", own),
        ("no_proxy", own),
    ]
    .map(|(name, value)| (name.to_owned(), Some(value.to_owned())))
    .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_what_the_client_needs_stays() {
        let names = [
            "GITHUB_TOKEN",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "AWS_PROFILE",
            "SSH_AUTH_SOCK",
            "npm_config_token",
            "DB_PASSWORD",
            "PATH",
            "KEYBOARD",
        ];
        let found = scrubbed(
            names.iter().map(ToString::to_string),
            &["DB_PASSWORD".to_owned()],
            &["claude"],
        );
        let found: Vec<String> = found.into_iter().map(|(name, _)| name).collect();
        let wanted =
            ["GITHUB_TOKEN", "OPENAI_API_KEY", "AWS_PROFILE", "SSH_AUTH_SOCK", "npm_config_token"];
        assert_eq!(found, wanted);
    }
}
