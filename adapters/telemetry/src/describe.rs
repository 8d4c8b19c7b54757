//! Telling the recorder what each metric means.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

use crate::registry::{Kind, METRICS};

/// Registers the descriptions with the recorder that is installed.
pub(crate) fn describe_all() {
    for metric in METRICS {
        match metric.kind {
            Kind::Counter => describe_counter!(metric.name, metric.meaning),
            Kind::Gauge => describe_gauge!(metric.name, metric.meaning),
            Kind::Histogram => describe_histogram!(metric.name, Unit::Seconds, metric.meaning),
        }
    }
}
