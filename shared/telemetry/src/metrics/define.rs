//! A macro that defines each metric in one entry: field, type, name, help, labels, and the buckets
//! of a histogram.

use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Result, core::Collector,
};

/// A metric's name, help text, labels and buckets.
#[derive(Debug, Clone, Copy)]
pub struct Definition {
    pub name: &'static str,
    /// The quantity that the metric counts or measures, with its unit.
    pub help: &'static str,
    pub labels: &'static [&'static str],
    pub buckets: &'static [f64],
}

/// All labels that metrics may have. None of them may identify a guest or a conversation, or hold a
/// text.
pub const LABELS: &[&str] = &[
    "agent",
    "alert",
    "by",
    "casino",
    "channel",
    "class",
    "commit",
    "consumer",
    "direction",
    "duty",
    "effect",
    "ending",
    "error",
    "error_code",
    "event",
    "kind",
    "language",
    "layer",
    "length",
    "level",
    "method",
    "model",
    "name",
    "outcome",
    "part",
    "pattern",
    "problem",
    "provider",
    "queue",
    "reason",
    "route",
    "rule",
    "sent",
    "severity",
    "source",
    "stage",
    "stream",
    "state",
    "status",
    "step",
    "store",
    "switch",
    "to",
    "verdict",
    "version",
    "what",
    "worker",
];

/// Buckets in seconds, for work of our own processes.
pub(super) const FAST: &[f64] = &[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 5.0, 10.0];
/// Buckets in seconds, for work that waits for other systems.
pub(super) const SECONDS: &[f64] = &[0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
/// Buckets in seconds, for model calls and whole replies. Alerts and targets use 2, 3, 5 and 10.
pub(super) const SLOW: &[f64] = &[
    0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0,
];
/// Buckets in seconds, for searches. Alerts and targets use 0.2, 0.5 and 1.
pub(super) const SEARCH: &[f64] = &[0.005, 0.01, 0.03, 0.1, 0.2, 0.5, 1.0, 3.0];
/// Buckets in seconds, for the steps of a turn. The goals per step use 0.001, 0.03, 0.5, 0.6 and
/// 1.5.
pub(super) const STEPS: &[f64] = &[
    0.0005, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.6, 0.8, 1.5, 3.0, 5.0, 10.0,
];
/// Buckets for shares between 0 and 1.
pub(super) const SHARES: &[f64] = &[0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.65, 0.8, 0.9, 1.0];

/// A metric type of the `prometheus` crate, made from a [`Definition`].
pub(super) trait Instrument: Collector + Clone + Sized + 'static {
    fn make(of: &Definition) -> Result<Self>;
}

macro_rules! instrument {
    ($($type:ty: |$of:ident| $make:expr;)*) => {$(
        impl Instrument for $type {
            fn make($of: &Definition) -> Result<Self> {
                $make
            }
        }
    )*};
}

instrument! {
    IntCounter: |of| Self::new(of.name, of.help);
    IntGauge: |of| Self::new(of.name, of.help);
    Gauge: |of| Self::new(of.name, of.help);
    IntCounterVec: |of| Self::new(Opts::new(of.name, of.help), of.labels);
    IntGaugeVec: |of| Self::new(Opts::new(of.name, of.help), of.labels);
    GaugeVec: |of| Self::new(Opts::new(of.name, of.help), of.labels);
    HistogramVec: |of| Self::new(
        HistogramOpts::new(of.name, of.help).buckets(of.buckets.to_vec()),
        of.labels,
    );
}

/// Defines a struct of metrics and the list of their definitions. The help of each metric also
/// becomes its documentation.
macro_rules! instruments {
    (
        $(#[$meta:meta])*
        $group:ident {
            $(
                $field:ident: $type:ty = $name:literal, $help:literal,
                [$($label:literal),*] $(, $buckets:expr)?;
            )*
        }
        $(parts { $($(#[$part_meta:meta])* $part:ident: $part_type:ty,)* })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        pub struct $group {
            $(#[doc = $help] pub $field: $type,)*
            $($($(#[$part_meta])* pub $part: $part_type,)*)?
        }

        impl $group {
            pub(super) const DEFINITIONS: &'static [$crate::metrics::define::Definition] = &[$(
                $crate::metrics::define::Definition {
                    name: $name,
                    help: $help,
                    labels: &[$($label),*],
                    buckets: instruments!(@buckets $($buckets)?),
                },
            )*];

            pub(super) fn new(registry: &prometheus::Registry) -> Self {
                let mut definitions = Self::DEFINITIONS.iter();
                Self {
                    $(
                        $field: $crate::metrics::define::registered::<$type>(
                            definitions.next(),
                            registry,
                        ),
                    )*
                    $($($part: <$part_type>::new(registry),)*)?
                }
            }
        }
    };
    (@buckets) => { &[] };
    (@buckets $buckets:expr) => { $buckets };
}

pub(super) fn registered<T: Instrument>(
    of: Option<&Definition>,
    registry: &prometheus::Registry,
) -> T {
    let of = of.expect("the macro writes one definition per field");
    let instrument = T::make(of).expect("names and labels are constants that prometheus accepts");
    registry
        .register(Box::new(instrument.clone()))
        .expect("each metric is registered once");
    instrument
}
