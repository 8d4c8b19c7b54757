//! Telling the recorder what each metric means.

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};

use crate::registry::{Kind, METRICS};

/// Registers the descriptions with the recorder that is installed. A counter without labels begins at 0, because what first appears as 1 shows no increase.
pub(crate) fn describe_all() {
    for metric in METRICS {
        if metric.kind == Kind::Counter && metric.labels.is_empty() {
            counter!(metric.name).increment(0);
        }
        match metric.kind {
            Kind::Counter => describe_counter!(metric.name, metric.meaning),
            Kind::Gauge => describe_gauge!(metric.name, metric.meaning),
            Kind::Histogram => describe_histogram!(metric.name, Unit::Seconds, metric.meaning),
        }
    }
}
