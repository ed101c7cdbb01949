//! Writes `OpenMetrics` 1.0 text, which can name a trace for each bucket of a histogram. The
//! `prometheus` crate writes only the older format, which cannot do this.

use std::{
    fmt::Write,
    time::{Duration, SystemTime},
};

use prometheus::proto::{LabelPair, Metric, MetricFamily, MetricType};
use seven_domain::trace::hex_of;

use super::timed::Exemplar;

/// Encodes all metrics. An exemplar is an observation with its trace. `exemplars` takes the name
/// and labels of a histogram and returns the exemplar of each bucket.
pub(super) fn encode(
    families: &[MetricFamily],
    exemplars: impl Fn(&str, &[LabelPair]) -> Vec<Option<Exemplar>>,
) -> String {
    let mut text = String::new();
    for family in families {
        let (base, kind, suffix) = kind_of(family.name(), family.get_field_type());
        // Writing to a string cannot fail.
        let _infallible = writeln!(
            text,
            "# HELP {base} {}\n# TYPE {base} {kind}",
            escaped(family.help())
        );
        for metric in family.get_metric() {
            if kind == "histogram" {
                histogram(
                    &mut text,
                    base,
                    metric,
                    &exemplars(family.name(), metric.get_label()),
                );
                continue;
            }
            let value = match family.get_field_type() {
                MetricType::COUNTER => metric.get_counter().get_value(),
                _ => metric.get_gauge().get_value(),
            };
            sample(
                &mut text,
                base,
                suffix,
                metric.get_label(),
                None,
                &number(value),
            );
            text.push('\n');
        }
    }
    text.push_str("# EOF\n");
    text
}

/// Returns the base name of a metric, its type, and the suffix of its samples. A name that ends in
/// `_total` is a counter in this format, and one that ends in `_info` an info metric, whatever type
/// we use.
fn kind_of(name: &str, kind: MetricType) -> (&str, &'static str, &'static str) {
    if let Some(base) = name.strip_suffix("_total") {
        return (base, "counter", "_total");
    }
    if let Some(base) = name.strip_suffix("_info") {
        return (base, "info", "_info");
    }
    match kind {
        MetricType::COUNTER => (name, "counter", "_total"),
        MetricType::HISTOGRAM => (name, "histogram", ""),
        _ => (name, "gauge", ""),
    }
}

fn histogram(text: &mut String, base: &str, metric: &Metric, exemplars: &[Option<Exemplar>]) {
    let (told, labels) = (metric.get_histogram(), metric.get_label());
    let limited = told
        .get_bucket()
        .iter()
        .filter(|bucket| bucket.upper_bound().is_finite());
    let limited = limited.map(|bucket| (number(bucket.upper_bound()), bucket.cumulative_count()));
    let all = std::iter::once(("+Inf".to_owned(), told.get_sample_count()));
    for (n, (limit, count)) in limited.chain(all).enumerate() {
        sample(
            text,
            base,
            "_bucket",
            labels,
            Some(&limit),
            &count.to_string(),
        );
        if let Some(Exemplar {
            trace_id,
            seconds,
            at,
        }) = exemplars.get(n).copied().flatten()
        {
            let mut room = [0; 32];
            let at = at
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or(Duration::ZERO)
                .as_secs_f64();
            let trace = hex_of(&trace_id, &mut room);
            let _infallible = write!(
                text,
                " # {{trace_id=\"{trace}\"}} {} {at:.3}",
                number(seconds)
            );
        }
        text.push('\n');
    }
    for (suffix, value) in [
        ("_count", told.get_sample_count().to_string()),
        ("_sum", number(told.get_sample_sum())),
    ] {
        sample(text, base, suffix, labels, None, &value);
        text.push('\n');
    }
}

/// Writes one sample without a newline at its end.
fn sample(
    text: &mut String,
    base: &str,
    suffix: &str,
    labels: &[LabelPair],
    limit: Option<&str>,
    value: &str,
) {
    let labels = labels.iter().map(|label| (label.name(), label.value()));
    let pairs: Vec<String> = labels
        .chain(limit.map(|limit| ("le", limit)))
        .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
        .collect();
    let pairs = if pairs.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", pairs.join(","))
    };
    let _infallible = write!(text, "{base}{suffix}{pairs} {value}");
}

/// Writes a number as `OpenMetrics` wants it: 1.0 and not 1.
fn number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    format!("{value:?}")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, IntGaugeVec, Opts, Registry};

    use super::*;

    #[test]
    fn exemplars_stand_behind_their_buckets() {
        let registry = Registry::new();
        let seconds = HistogramVec::new(
            HistogramOpts::new("s_seconds", "Seconds").buckets(vec![0.1, 1.0]),
            &["stage"],
        );
        let seconds = seconds.unwrap();
        let sends =
            IntCounterVec::new(Opts::new("sends_total", "Sends by \"code\""), &["code"]).unwrap();
        let build = IntGaugeVec::new(Opts::new("build_info", "Build"), &["version"]).unwrap();
        registry.register(Box::new(seconds.clone())).unwrap();
        registry.register(Box::new(sends.clone())).unwrap();
        registry.register(Box::new(build.clone())).unwrap();
        seconds.with_label_values(&["gate"]).observe(0.5);
        sends.with_label_values(&["a\\b\"c\n"]).inc();
        build.with_label_values(&["1"]).set(1);
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        let text = encode(&registry.gather(), |name, labels| {
            assert_eq!((name, labels[0].value()), ("s_seconds", "gate"));
            vec![
                None,
                Some(Exemplar {
                    trace_id: [0xab; 16],
                    seconds: 0.5,
                    at,
                }),
                None,
            ]
        });
        let expected = r#"# HELP build Build
# TYPE build info
build_info{version="1"} 1.0
# HELP s_seconds Seconds
# TYPE s_seconds histogram
s_seconds_bucket{stage="gate",le="0.1"} 0
s_seconds_bucket{stage="gate",le="1.0"} 1 # {trace_id="abababababababababababababababab"} 0.5 1.500
s_seconds_bucket{stage="gate",le="+Inf"} 1
s_seconds_count{stage="gate"} 1
s_seconds_sum{stage="gate"} 0.5
# HELP sends Sends by \"code\"
# TYPE sends counter
sends_total{code="a\\b\"c\n"} 1.0
# EOF
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn numbers_are_canonical() {
        for (value, said) in [
            (1.0, "1.0"),
            (0.001, "0.001"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(number(value), said);
        }
        assert_eq!(number(f64::NAN), "NaN");
    }
}
