//! Ruby: `rspec`, rake's tests and `rubocop`, through bundler where there is a Gemfile.

use super::{Look, Proposal};

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    look.first(&["Gemfile", "Rakefile", ".rspec"])?;
    let by = |role, command: &str, why: &str| {
        let through = if look.has("Gemfile") { "bundle exec " } else { "" };
        Proposal::new(role, &format!("{through}{command}"), why)
    };
    let mut proposals = Vec::new();
    let rakefile = look.read("Rakefile").unwrap_or_default();
    let tasks = ["TestTask", "task :test", "task test", "task \"test\"", "task 'test'"];
    if look.has(".rspec") || look.has("spec/spec_helper.rb") {
        proposals.push(by("tests", "rspec", "RSpec's files"));
    } else if look.has("bin/rails") && look.has("test") {
        proposals.push(Proposal::new("tests", "bin/rails test", "bin/rails and test/"));
    } else if tasks.iter().any(|task| rakefile.contains(task)) {
        proposals.push(by("tests", "rake test", "Rakefile, task `test`"));
    }
    if look.has(".rubocop.yml") {
        proposals.push(by("lint", "rubocop", ".rubocop.yml"));
    }
    Some(proposals)
}
