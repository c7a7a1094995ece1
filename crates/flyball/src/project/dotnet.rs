//! .NET: the solution or project in a folder, tested where one of its projects is for tests.

use super::{Look, Proposal};
use crate::config::quoted;

pub(super) fn detect(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let names = look.names("");
    let solution = [".sln", ".slnx"];
    let by = |endings: &[&str]| names.iter().find(|name| ends(name, endings));
    let file = by(&solution).or_else(|| by(&PROJECTS))?;
    let is_solution = ends(file, &solution);
    let projects = if is_solution {
        look.files_within(LEVELS, |name| ends(name, &PROJECTS))
    } else {
        vec![file.clone()]
    };
    let is_test = |project: &String| {
        let marks = ["Microsoft.NET.Test.Sdk", "IsTestProject", "MSTest.Sdk", "TUnit", "xunit.v3"];
        look.read(project).is_some_and(|text| marks.iter().any(|mark| text.contains(mark)))
    };
    let mut proposals = Vec::new();
    if projects.iter().any(is_test) {
        proposals.push(Proposal::new("tests", &format!("dotnet test {}", quoted(file)), file));
    }
    proposals.push(Proposal::new("build", &format!("dotnet build {}", quoted(file)), file));
    Some(proposals)
}

/// What projects end with.
const PROJECTS: [&str; 3] = [".csproj", ".fsproj", ".vbproj"];
/// How deep a solution's projects are looked for.
const LEVELS: usize = 3;

fn ends(name: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| name.ends_with(ending))
}
