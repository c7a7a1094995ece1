//! A8: how full the context is.

use flyball_core::call::CallRing;
use serde::Deserialize;

use super::vector::Vector;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    percents: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    notices: Vec<String>,
    steps: Option<Vec<u8>>,
}

pub(crate) fn check(vector: &Vector) {
    let input: Input = vector.input();
    let expect: Expect = vector.expect();
    let mut ring = CallRing::new();
    let notices: Vec<_> = input
        .percents
        .iter()
        .filter_map(|percent| ring.context(serde_json::from_str(&permille(*percent)).unwrap()))
        .collect();
    vector.same(notices.iter().map(|n| n.level.to_string()).collect(), expect.notices);
    if let Some(steps) = expect.steps {
        vector.same(notices.iter().map(|notice| notice.percent).collect(), steps);
    }
    for notice in notices {
        assert!(notice.message.starts_with(&notice.level.to_string()));
    }
}

/// Whole thousandths, cut off.
fn permille(percent: f64) -> String {
    format!("{}", (percent * 10.0).floor())
}
