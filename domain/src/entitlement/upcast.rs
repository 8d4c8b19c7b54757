//! Steps from older versions of these events, oldest first. A shape that has landed is never edited: it gets a step.

use serde_json::Value;

use crate::upcast::Step;

/// In ascending version.
pub(crate) const STEPS: &[Step] = &[Step {
    event_type: "entitlement.extended",
    from: 1,
    change: limits_as_sold,
}];

/// Before operators could set limits, an extension left what it sold.
fn limits_as_sold(mut payload: Value) -> Value {
    let sold = payload.pointer("/terms/limits").cloned();
    if let (Some(fields), Some(sold)) = (payload.as_object_mut(), sold) {
        fields.insert("limits".to_owned(), sold);
    }
    payload
}
