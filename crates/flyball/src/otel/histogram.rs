//! A histogram as it grows, and the points of metrics.

use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram as HistogramData, HistogramDataPoint, Metric,
    NumberDataPoint, Sum,
};

use crate::stats::{Spans, seconds};

/// From when to when something was counted, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    pub(super) from: u64,
    pub(super) to: u64,
}

/// What was observed, by size.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    bounds: &'static [f64],
    counts: Vec<u64>,
    sum: f64,
    least: f64,
    most: f64,
}

impl Histogram {
    pub(super) fn new(bounds: &'static [f64]) -> Self {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { bounds, counts: vec![0; bounds.len() + 1], sum: 0.0, least, most }
    }

    /// Spans that were counted before, in seconds.
    pub(super) fn of(bounds: &'static [f64], spans: &Spans) -> Self {
        let Spans { counts, sum, least, most } = spans;
        let (sum, least, most) = (seconds(*sum), seconds(*least), seconds(*most));
        Self { bounds, counts: counts.to_vec(), sum, least, most }
    }

    /// One more; a bound belongs to what lies below it.
    pub(super) fn observe(&mut self, value: f64) {
        let at = self.bounds.iter().take_while(|bound| value > **bound).count();
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
        self.sum += value;
        (self.least, self.most) = (self.least.min(value), self.most.max(value));
    }

    fn point(&self, attributes: Vec<KeyValue>, period: Period) -> HistogramDataPoint {
        HistogramDataPoint {
            attributes,
            start_time_unix_nano: period.from,
            time_unix_nano: period.to,
            count: self.counts.iter().sum(),
            sum: Some(self.sum),
            bucket_counts: self.counts.clone(),
            explicit_bounds: self.bounds.to_vec(),
            min: Some(self.least).filter(|value| value.is_finite()),
            max: Some(self.most).filter(|value| value.is_finite()),
            ..HistogramDataPoint::default()
        }
    }
}

/// What a metric is called, counts in, and means.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
    pub(super) words: &'static str,
}

impl Naming {
    fn metric(self, data: Data) -> Metric {
        Metric {
            name: self.name.to_owned(),
            description: self.words.to_owned(),
            unit: self.unit.to_owned(),
            data: Some(data),
            ..Metric::default()
        }
    }

    /// Counted from the beginning of the run on: whoever takes it over may miss any in between.
    #[expect(single_use_lifetimes, reason = "an item of `impl Trait` must name it")]
    pub(super) fn histogram<'a>(
        self,
        period: Period,
        all: impl IntoIterator<Item = (Vec<KeyValue>, &'a Histogram)>,
    ) -> Option<Metric> {
        let points = all.into_iter().map(|(attributes, one)| one.point(attributes, period));
        let data_points: Vec<HistogramDataPoint> = points.collect();
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        (!data_points.is_empty()).then(|| {
            self.metric(Data::Histogram(HistogramData { data_points, aggregation_temporality }))
        })
    }

    /// A sum that only grows, from the beginning of the run on.
    pub(super) fn sum(
        self,
        period: Period,
        all: impl IntoIterator<Item = (Vec<KeyValue>, Value)>,
    ) -> Option<Metric> {
        let data_points = points(period, all);
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        let sum = Sum { data_points, aggregation_temporality, is_monotonic: true };
        (!sum.data_points.is_empty()).then(|| self.metric(Data::Sum(sum)))
    }

    /// How it stands.
    pub(super) fn gauge(self, period: Period, value: Value) -> Metric {
        self.metric(Data::Gauge(Gauge { data_points: points(period, [(Vec::new(), value)]) }))
    }
}

fn points(
    period: Period,
    all: impl IntoIterator<Item = (Vec<KeyValue>, Value)>,
) -> Vec<NumberDataPoint> {
    let point = |(attributes, value)| NumberDataPoint {
        attributes,
        start_time_unix_nano: period.from,
        time_unix_nano: period.to,
        value: Some(value),
        ..NumberDataPoint::default()
    };
    all.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_lies_below_it() {
        let mut histogram = Histogram::new(&[1.0, 10.0]);
        for value in [1.0, 1.5, 10.0, 11.0] {
            histogram.observe(value);
        }
        let point = histogram.point(Vec::new(), Period { from: 1, to: 2 });
        assert_eq!((point.bucket_counts, point.count), (vec![1, 2, 1], 4));
        assert_eq!((point.sum, point.min, point.max), (Some(23.5), Some(1.0), Some(11.0)));
        let empty = Histogram::new(&[1.0]).point(Vec::new(), Period { from: 1, to: 2 });
        assert_eq!((empty.count, empty.min), (0, None));
    }
}
