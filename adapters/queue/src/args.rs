//! Arguments of the three kinds. They identify a record and carry nothing volatile, because a unique key is taken over their text.

use riverqueue::JobArgs;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Converges the panel for one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JobArgs)]
#[serde(rename_all = "camelCase")]
#[river(
    kind = "fulfillment",
    queue = "critical",
    max_attempts = 12,
    unique(by_args, by_state(available, pending, running, retryable, scheduled))
)]
pub struct FulfillmentArgs {
    /// The operation.
    pub operation_id: Uuid,
}

/// Buys and follows the goods of one order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JobArgs)]
#[serde(rename_all = "camelCase")]
#[river(
    kind = "goods_delivery",
    queue = "critical",
    max_attempts = 12,
    unique(by_args, by_state(available, pending, running, retryable, scheduled))
)]
pub struct GoodsDeliveryArgs {
    /// The order whose goods are owed.
    pub order_id: Uuid,
}

/// Runs one periodic pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JobArgs)]
#[river(
    kind = "periodic_task",
    queue = "default",
    max_attempts = 1,
    unique(by_args, by_state(available, pending, running, retryable, scheduled))
)]
pub struct PeriodicArgs {
    /// Name of the pass.
    pub task: String,
}

/// What a job is for, read back from a row of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A fulfillment operation.
    Operation(Uuid),
    /// The goods of an order.
    Order(Uuid),
    /// A periodic pass.
    Pass(String),
    /// A kind this version does not know, or arguments that do not decode.
    Unknown,
}

/// Longest name of a pass that is shown, in characters.
const LONGEST_NAME: usize = 64;

impl Subject {
    /// The ids by which the record is found, for readers who must not see the arguments themselves: `{"operationId": …}`,
    /// `{"orderId": …}`, `{"task": …}`, or nothing.
    pub fn summary(&self) -> serde_json::Value {
        match self {
            Self::Operation(id) => serde_json::json!({ "operationId": id }),
            Self::Order(id) => serde_json::json!({ "orderId": id }),
            Self::Pass(name) => serde_json::json!({ "task": shown(name) }),
            Self::Unknown => serde_json::json!({}),
        }
    }

    pub(crate) fn of(kind: &str, args: &serde_json::Value) -> Self {
        let id = |name: &str| args.get(name).and_then(|id| id.as_str()).and_then(|id| id.parse().ok());
        match kind {
            FulfillmentArgs::KIND => id("operationId").map_or(Self::Unknown, Self::Operation),
            GoodsDeliveryArgs::KIND => id("orderId").map_or(Self::Unknown, Self::Order),
            PeriodicArgs::KIND => args
                .get("task")
                .and_then(|task| task.as_str())
                .map_or(Self::Unknown, |task| Self::Pass(task.to_owned())),
            _ => Self::Unknown,
        }
    }
}

/// Anybody may insert a job: a name that looks like no pass is not repeated.
fn shown(name: &str) -> &str {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(plain) {
        name
    } else {
        "unknown"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_is_that_of_the_other_clients() {
        let id = Uuid::from_u128(7);
        let text = serde_json::to_string(&FulfillmentArgs { operation_id: id }).unwrap();
        assert_eq!(text, r#"{"operationId":"00000000-0000-0000-0000-000000000007"}"#);
        let text = serde_json::to_string(&GoodsDeliveryArgs { order_id: id }).unwrap();
        assert_eq!(text, r#"{"orderId":"00000000-0000-0000-0000-000000000007"}"#);
        let text = serde_json::to_string(&PeriodicArgs {
            task: "retention".to_owned(),
        })
        .unwrap();
        assert_eq!(text, r#"{"task":"retention"}"#);
    }

    #[test]
    fn a_summary_holds_ids_and_nothing_else() {
        let id = Uuid::from_u128(7);
        let summary = |kind: &str, args: serde_json::Value| Subject::of(kind, &args).summary();
        assert_eq!(
            summary(
                "fulfillment",
                serde_json::json!({ "operationId": id, "note": "a secret" })
            ),
            serde_json::json!({ "operationId": id })
        );
        assert_eq!(
            summary("periodic_task", serde_json::json!({ "task": "retention" })),
            serde_json::json!({ "task": "retention" })
        );
        for odd in ["", "<b>x</b>", "a b", &"x".repeat(65), "\u{1b}[31m"] {
            let args = serde_json::json!({ "task": odd });
            assert_eq!(summary("periodic_task", args), serde_json::json!({ "task": "unknown" }));
        }
        assert_eq!(
            summary("later", serde_json::json!({ "token": "x" })),
            serde_json::json!({})
        );
    }

    #[test]
    fn a_row_of_a_later_version_has_no_subject() {
        assert_eq!(Subject::of("fulfillment_v9", &serde_json::json!({})), Subject::Unknown);
        assert_eq!(
            Subject::of("fulfillment", &serde_json::json!({ "operationId": 7 })),
            Subject::Unknown
        );
    }
}
