//! The command itself, and the way its prompt goes.

use super::Custom;
use crate::client::{Launch, LaunchRequest, PromptBy, Stdin};

pub(super) fn launch(custom: &Custom, request: &LaunchRequest<'_>) -> Launch {
    let mut launch = Launch { argv: custom.command.clone(), ..Launch::default() };
    launch.extra(request);
    match custom.prompt {
        PromptBy::Stdin => launch.stdin = Stdin::Text(request.prompt.to_owned()),
        PromptBy::Argument => launch.arg(request.prompt),
        PromptBy::File => {
            let prompt = request.prompt.to_owned();
            let path = launch.private(request.private_dir, "prompt.md", prompt);
            launch.arg(&path);
        }
    }
    launch
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Adapter;

    #[test]
    fn a_custom_program_gets_its_prompt_the_way_the_config_says() {
        let root = std::path::Path::new("/run");
        let request = LaunchRequest {
            prompt: "do it",
            model: None,
            permissions: crate::client::Permissions::Bypass,
            hooks: None,
            private_dir: root,
            worktree: root,
            program: None,
            extra_args: &[],
        };
        let custom = |prompt| Custom { command: vec!["sh".to_owned()], prompt, speaks_like: None };
        let by_stdin = custom(PromptBy::Stdin).launch(&request);
        assert_eq!(by_stdin.stdin, Stdin::Text("do it".to_owned()));
        assert_eq!(custom(PromptBy::Argument).launch(&request).argv, ["sh", "do it"]);
        let by_file = custom(PromptBy::File).launch(&request);
        assert_eq!(by_file.argv, ["sh", "/run/prompt.md"]);
        assert_eq!(by_file.files[0].text, "do it");
    }
}
