//! The readers: one file per tool, or per family of tools that print alike.
//!
//! To add one: a file here, a line in [`members`], and a recorded output in `tests/corpus/`.

mod cargo_test;
mod document;
mod eslint;
mod gcc;
mod generic;
mod github;
mod go_build;
mod go_test;
mod golangci;
mod gradle;
mod javac;
mod jest;
mod js_frame;
mod junit;
mod jvm;
mod libtest_json;
mod maven;
mod mocha;
mod mypy;
mod nextest;
mod node_error;
mod node_test;
mod panic;
mod prettier;
mod prove;
mod pytest;
mod python_lint;
mod rspec;
mod rustc;
mod rustc_json;
mod rustfmt;
#[cfg(test)]
mod shapes;
mod start;
mod tap;
mod tap_diagnostics;
mod tsc;
mod unittest;
mod vitest;

pub(crate) use self::document::Documents;
use crate::recogniser::Recogniser;

/// All recognisers, with the command as a hint.
pub(crate) fn members(command: &str) -> Vec<Box<dyn Recogniser>> {
    vec![
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
        Box::new(junit::Junit::default()),
        Box::new(prettier::Prettier::new(command)),
        Box::new(github::Github::default()),
        Box::new(start::Start::default()),
        Box::new(generic::Generic::default()),
    ]
}
