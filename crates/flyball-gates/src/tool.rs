//! The readers: one file per tool, or per family of tools that print alike.
//!
//! To add one: a file here, a line in [`members`], and a recorded output in `tests/corpus/`.

mod acceptance;
mod ava;
mod bandit;
mod bats;
#[cfg(test)]
mod beside;
mod biome;
mod bun;
mod cargo_test;
mod catch2;
mod checkstyle;
mod cmake;
mod ctest;
mod deno;
mod doctest_cpp;
mod document;
mod dotnet;
mod eslint;
mod exunit;
mod gcc;
mod generic;
mod github;
mod go_build;
mod go_test;
mod golangci;
mod gradle;
mod gtest;
mod javac;
mod jest;
mod js_frame;
mod junit;
mod jvm;
mod libtest_json;
mod line_lint;
mod maven;
mod minitest;
mod mocha;
mod mypy;
mod nextest;
mod node_error;
mod node_test;
mod oxlint;
mod panic;
mod pest;
mod phpstan;
mod phpunit;
mod playwright;
mod prettier;
mod prove;
mod pyright;
mod pytest;
mod python_lint;
mod rspec;
mod rustc;
mod rustc_json;
mod rustfmt;
mod scalatest;
#[cfg(test)]
mod shapes;
mod shellcheck;
#[cfg(test)]
mod situations;
mod stylelint;
mod swift;
mod tables;
mod tap;
mod tap_diagnostics;
mod teamcity;
mod terraform;
mod ticks;
mod tsc;
mod ty;
mod unittest;
#[cfg(test)]
mod unrun;
mod uvu;
#[cfg(test)]
mod versions;
mod vitest;

pub(crate) use self::document::Documents;
use crate::recogniser::Recogniser;

/// How many recognisers there are.
pub(crate) const MEMBERS: usize = 64;

/// All recognisers, with the command as a hint.
pub(crate) fn members(command: &str) -> [Box<dyn Recogniser>; MEMBERS] {
    [
        Box::new(cargo_test::CargoTest::default()),
        Box::new(nextest::Nextest::default()),
        Box::new(libtest_json::LibtestJson::default()),
        Box::new(rustc::Rustc::new(command)),
        Box::new(rustc_json::RustcJson::default()),
        Box::new(rustfmt::Rustfmt::new(command)),
        Box::new(pytest::Pytest::default()),
        Box::new(unittest::Unittest::default()),
        Box::new(jest::Jest::default()),
        Box::new(vitest::Vitest::default()),
        Box::new(mocha::Mocha::default()),
        Box::new(node_test::NodeTest::default()),
        Box::new(node_error::NodeError::default()),
        Box::new(tap::Tap::default()),
        Box::new(prove::Prove::default()),
        Box::new(go_test::GoTest::default()),
        Box::new(go_build::GoBuild::new(command)),
        Box::new(golangci::Golangci::default()),
        Box::new(eslint::Eslint::default()),
        Box::new(tsc::Tsc::default()),
        Box::new(python_lint::PythonLint::new(command)),
        Box::new(mypy::Mypy::default()),
        Box::new(gcc::Gcc::new(command)),
        Box::new(javac::Javac::default()),
        Box::new(maven::Maven::default()),
        Box::new(gradle::Gradle::default()),
        Box::new(rspec::Rspec::default()),
        Box::new(acceptance::Acceptance::default()),
        Box::new(ava::Ava::default()),
        Box::new(bandit::Bandit::default()),
        Box::new(bats::Bats::default()),
        Box::new(biome::Biome::default()),
        Box::new(bun::Bun::default()),
        Box::new(catch2::Catch2::default()),
        Box::new(checkstyle::Checkstyle::default()),
        Box::new(cmake::Cmake::default()),
        Box::new(ctest::Ctest::default()),
        Box::new(deno::Deno::default()),
        Box::new(doctest_cpp::DoctestCpp::default()),
        Box::new(dotnet::Dotnet::default()),
        Box::new(exunit::Exunit::default()),
        Box::new(gtest::Gtest::default()),
        Box::new(minitest::Minitest::default()),
        Box::new(oxlint::Oxlint::default()),
        Box::new(pest::Pest::default()),
        Box::new(phpstan::Phpstan::default()),
        Box::new(phpunit::Phpunit::default()),
        Box::new(playwright::Playwright::default()),
        Box::new(pyright::Pyright::default()),
        Box::new(scalatest::Scalatest::default()),
        Box::new(shellcheck::Shellcheck::default()),
        Box::new(stylelint::Stylelint::default()),
        Box::new(swift::Swift::default()),
        Box::new(tables::Tables::default()),
        Box::new(teamcity::Teamcity::default()),
        Box::new(terraform::Terraform::default()),
        Box::new(ticks::Ticks::default()),
        Box::new(ty::Ty::default()),
        Box::new(uvu::Uvu::default()),
        Box::new(line_lint::LineLint::new(command)),
        Box::new(junit::Junit::default()),
        Box::new(prettier::Prettier::new(command)),
        Box::new(github::Github::default()),
        Box::new(generic::Generic::default()),
    ]
}
