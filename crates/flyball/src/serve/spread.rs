//! Histograms that were counted elsewhere, as `/metrics` writes them.

use std::collections::BTreeMap;
use std::fmt;

use flyball_core::Millis;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::totals::{Labels, Part};
use crate::stats::seconds;

/// Spans under each of their labels.
#[derive(Debug)]
pub(super) struct Spreads {
    bounds: &'static [f64],
    all: BTreeMap<Labels, Spread>,
}

#[derive(Debug, Default)]
struct Spread {
    sum: u64,
    counts: BTreeMap<usize, u64>,
}

impl Spreads {
    pub(super) const fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, all: BTreeMap::new() }
    }

    /// A part of what was counted under some labels.
    pub(super) fn add(&mut self, labels: &Labels, part: Part, count: u64) {
        let one = self.all.entry(labels.clone()).or_default();
        match part {
            Part::Sum => one.sum = count,
            Part::Between(at) => drop(one.counts.insert(at, count)),
        }
    }
}

impl EncodeMetric for Spreads {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (labels, one) in &self.all {
            let bounds = self.bounds.iter().copied().chain([f64::INFINITY]);
            let count = |at: usize| one.counts.get(&at).copied().unwrap_or(0);
            let buckets: Vec<(f64, u64)> =
                bounds.enumerate().map(|(at, bound)| (bound, count(at))).collect();
            let sum = seconds(Millis::new(one.sum));
            let of_it = encoder.encode_family(labels)?;
            encode(of_it, sum, one.counts.values().sum(), &buckets)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

fn encode(
    mut encoder: MetricEncoder<'_>,
    sum: f64,
    count: u64,
    buckets: &[(f64, u64)],
) -> fmt::Result {
    encoder.encode_histogram::<NoLabelSet>(sum, count, buckets, None)
}
