//! What looks like a secret in a text of others is not shown: keys with a known beginning, tokens of
//! three parts, private keys, and values that their name calls secret.

/// What stands in its place.
const MASK: &str = "[secret]";

/// How keys of known services begin, and how long what follows is at least.
const BEGINNINGS: [(&str, usize); 20] = [
    ("sk-ant-", 16),
    ("sk-proj-", 16),
    ("sk-", 20),
    ("sk_live_", 12),
    ("rk_live_", 12),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("hf_", 20),
    ("pypi-", 40),
];

/// Parts of names whose values are secret.
const NAMES: [&str; 9] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "private_key",
];
/// How a private key begins and ends.
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";
/// The shortest value that is taken for a secret because of its name.
const VALUE_MIN: usize = 8;

/// The text, what looks like a secret left out.
pub(crate) fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, length)) = next(rest) {
        let (head, tail) = rest.split_at(before);
        out.push_str(head);
        out.push_str(MASK);
        rest = tail.get(length..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

/// Where the next secret begins, and how long it is.
fn next(text: &str) -> Option<(usize, usize)> {
    let mut begins = true;
    for (at, character) in text.char_indices() {
        let is_word = is_key(character);
        if begins && is_word || character == '-' {
            let rest = text.get(at..).unwrap_or("");
            if let Some(length) = private_key(rest)
                .or_else(|| if begins { known(rest).or_else(|| web_token(rest)) } else { None })
            {
                return Some((at, length));
            }
            if begins && let Some((skip, length)) = named(rest) {
                return Some((at + skip, length));
            }
        }
        begins = !is_word;
    }
    None
}

const fn is_key(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

fn run_of(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|character| !fits(character)).unwrap_or(text.len())
}

/// A key whose beginning is known.
fn known(text: &str) -> Option<usize> {
    let (beginning, least) = BEGINNINGS.iter().find(|(one, _)| text.starts_with(one))?;
    let length = run_of(text, is_key);
    let body = text.get(beginning.len()..length)?;
    // `sk-learn-something-long` is a name: keys have digits.
    let is_random = body.bytes().any(|byte| byte.is_ascii_digit());
    (body.len() >= *least && is_random).then_some(length)
}

/// Three parts in base64 with points between them, as web tokens have.
fn web_token(text: &str) -> Option<usize> {
    if !text.starts_with("eyJ") {
        return None;
    }
    let length = run_of(text, |character| is_key(character) || character == '.');
    let token = text.get(..length)?.trim_end_matches('.');
    let parts: Vec<&str> = token.split('.').collect();
    (parts.len() == 3 && token.len() >= 40).then_some(token.len())
}

fn private_key(text: &str) -> Option<usize> {
    let rest = text.strip_prefix(KEY_BEGINS)?;
    if !rest.get(..rest.len().min(40)).or(Some(rest))?.contains("PRIVATE KEY") {
        return None;
    }
    let Some(end) = text.find(KEY_ENDS) else { return Some(text.len()) };
    let tail = text.get(end + KEY_ENDS.len()..)?;
    let close = tail.find("-----").map_or(tail.len(), |at| at + 5);
    Some(end + KEY_ENDS.len() + close)
}

/// A call, or a look into a table: `read(…`, `secrets[…`.
fn is_code(value: &str) -> bool {
    let name = run_of(value, |c| is_key(c) || c == '.');
    name > 0 && value.get(name..).is_some_and(|rest| rest.starts_with(['(', '[']))
}

/// A value behind a name that calls it secret: where it begins, and how long it is.
fn named(text: &str) -> Option<(usize, usize)> {
    let name_length = run_of(text, is_key);
    let name = text.get(..name_length)?.to_ascii_lowercase();
    if name == "bearer" {
        let value = text.get(name_length..)?.strip_prefix(' ')?;
        let length = run_of(value, |c| is_key(c) || matches!(c, '.' | '+' | '/' | '='));
        return (length >= 16).then_some((name_length + 1, length));
    }
    if !NAMES.iter().any(|secret| name.ends_with(secret)) {
        return None;
    }
    let after = text.get(name_length..)?;
    let between = run_of(after, |c| matches!(c, '"' | '\'' | ' '));
    let sign = after.get(between..)?.chars().next().filter(|c| matches!(c, '=' | ':'))?;
    let skip = name_length + between + sign.len_utf8();
    let value = text.get(skip..)?;
    let quotes = run_of(value, |c| matches!(c, '"' | '\'' | ' '));
    let is_quoted = value.get(..quotes)?.contains(['"', '\'']);
    let value = value.get(quotes..)?;
    let length = run_of(value, |c| {
        !c.is_whitespace() && !matches!(c, '"' | '\'' | ',' | ';' | ')' | '}' | '<')
    });
    let found = value.get(..length)?;
    let is_random = found.bytes().any(|byte| byte.is_ascii_digit())
        && !found.starts_with(['$', '(', '[', '{', '&', ':'])
        && !found.contains("::")
        && (is_quoted || !is_code(found));
    (length >= VALUE_MIN && is_random).then_some((skip + quotes, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_not_shown() {
        let key = "A1b2C3d4E5f6G7h8I9j0K1l2";
        let cases = [
            (format!("use sk-ant-{key} now"), "use [secret] now"),
            (format!("ghp_{key}"), "[secret]"),
            (format!("AKIA{}", &key.to_uppercase()[..16]), "[secret]"),
            (format!("Authorization: Bearer {key}"), "Authorization: Bearer [secret]"),
            (format!("DB_PASSWORD={key}\nnext"), "DB_PASSWORD=[secret]\nnext"),
            (format!("{{\"api_key\": \"{key}\"}}"), "{\"api_key\": \"[secret]\"}"),
            (format!("eyJhbGciOi1.{key}.{key}"), "[secret]"),
            (
                format!(
                    "a\n-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY-----\nb"
                ),
                "a\n[secret]\nb",
            ),
            (format!("-----BEGIN PRIVATE KEY-----\n{key}"), "[secret]"),
            (format!("two: ghp_{key}, ghs_{key}"), "two: [secret], [secret]"),
        ];
        for (text, shown) in cases {
            assert_eq!(masked(&text), shown, "{text}");
        }
    }

    #[test]
    fn what_only_sounds_like_one_is_shown() {
        for text in [
            "the token was refused",
            "token: none",
            "tokens: 1234567",
            "password=hunter",
            "let token = Token::given(&path2)?;",
            "sk-learn-is-a-library-for-python",
            "PASSWORD=$DB_PASSWORD_1",
            "secret = secrets[12345678]",
            "commit 7869061650aabbccdd",
            "bearer of bad news",
            "-----BEGIN CERTIFICATE-----",
            "häuser – ünïcode",
            "",
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
