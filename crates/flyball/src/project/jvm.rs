//! Maven and Gradle, by the project's wrapper where it has one.

use super::{Look, Proposal};

pub(super) fn detect_maven(look: &Look<'_>) -> Option<Vec<Proposal>> {
    if !look.has("pom.xml") {
        return None;
    }
    let program = if look.has("mvnw") { "./mvnw" } else { "mvn" };
    Some(vec![
        Proposal::new("tests", &format!("{program} -B test"), "pom.xml"),
        Proposal::new("build", &format!("{program} -B -DskipTests package"), "pom.xml"),
    ])
}

pub(super) fn detect_gradle(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let files = ["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"];
    let file = files.into_iter().find(|name| look.has(name))?;
    let program = if look.has("gradlew") { "./gradlew" } else { "gradle" };
    Some(vec![
        Proposal::new("tests", &format!("{program} test"), file),
        Proposal::new("build", &format!("{program} assemble"), file),
    ])
}
