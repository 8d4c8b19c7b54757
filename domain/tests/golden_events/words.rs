//! Words and small forms inside of events: what operators may ask for, and what drift is told in.

use domain::entitlement::{Asked, DriftKind, Limit, Side};
use serde_json::{Value, json};

use crate::samples::{at, id};

/// What may be planned, in the words that are stored.
pub(crate) fn asked() -> [(Asked, Value); 9] {
    [
        (
            Asked::EndsAt { ends_at: at(0) },
            json!({"change": "ends_at", "endsAt": "2030-03-17T17:46:40.123456Z"}),
        ),
        (
            Asked::Limits {
                traffic_bytes: Some(Limit::Unlimited),
                devices: Some(Limit::AtMost(3)),
            },
            json!({"change": "limits", "trafficBytes": {"most": null}, "devices": {"most": 3}}),
        ),
        (
            Asked::Limits {
                traffic_bytes: None,
                devices: Some(Limit::Unlimited),
            },
            json!({"change": "limits", "trafficBytes": null, "devices": {"most": null}}),
        ),
        (
            Asked::Squads { squads: vec![id(7)] },
            json!({"change": "squads", "squads": ["01905c3a-7e00-7000-8000-000000000007"]}),
        ),
        (Asked::Enable, json!({"change": "enable"})),
        (Asked::Disable, json!({"change": "disable"})),
        (Asked::ResetTraffic, json!({"change": "reset_traffic"})),
        (Asked::Pause, json!({"change": "pause"})),
        (Asked::Resume, json!({"change": "resume"})),
    ]
}

pub(crate) fn drift_kinds() -> [(DriftKind, &'static str); 6] {
    DriftKind::ALL.map(|kind| (kind, kind.as_str()))
}

/// The two forms of one side of a difference.
pub(crate) fn sides() -> [(Side, Value); 3] {
    [
        (Side::Exists { exists: false }, json!({"exists": false})),
        (Side::Value { value: Value::Null }, json!({"value": null})),
        (Side::Value { value: json!(3) }, json!({"value": 3})),
    ]
}
