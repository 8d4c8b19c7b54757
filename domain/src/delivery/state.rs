//! The folded state of a delivery.

use serde::{Deserialize, Serialize};

use crate::{
    goods::Product,
    ids::{CustomerId, OrderId},
    money::Money,
    time::Timestamp,
};

/// How far a delivery came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// No event yet.
    #[default]
    Absent,
    Owed,
    Submitting {
        attempt: i32,
        deadline: Timestamp,
    },
    Accepted {
        attempt: i32,
        reference: String,
        poll_at: Timestamp,
    },
    RetryWait {
        until: Timestamp,
    },
    NeedsReview {
        code: String,
    },
    Delivered,
    Failed {
        code: String,
    },
    Cancelled,
}

/// One delivery, as its events tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub state: State,
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub product: Option<Product>,
    pub price: Option<Money>,
    /// Submissions started.
    pub attempts: i32,
    pub refund_owed: Option<Money>,
}
