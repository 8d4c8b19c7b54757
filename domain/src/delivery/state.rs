//! The folded state of a delivery.

use serde::{Deserialize, Serialize};

use crate::{
    delivery::Event,
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
    /// Paid for, not submitted yet.
    Owed,
    /// A submission is open: it may be on its way, and nobody touches it before the deadline.
    Submitting {
        /// Its number, from 1.
        attempt: i32,
        /// From then on it counts as abandoned.
        deadline: Timestamp,
    },
    /// The provider works on it.
    Accepted {
        /// The submission that was accepted.
        attempt: i32,
        /// The provider's name for it.
        reference: String,
        /// When to ask for it first.
        poll_at: Timestamp,
    },
    /// The last submission was surely not executed.
    RetryWait {
        /// When the next one is due.
        until: Timestamp,
    },
    /// A person has to find out and to decide.
    NeedsReview {
        /// Why.
        code: String,
    },
    /// The goods arrived.
    Delivered,
    /// Ended without goods.
    Failed {
        /// Why.
        code: String,
    },
    /// Withdrawn before anything was bought.
    Cancelled,
}

/// One delivery, as its events tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// How far it came.
    pub state: State,
    /// The order that owes it; also its id.
    pub order_id: OrderId,
    /// Who bought.
    pub customer_id: CustomerId,
    /// What is owed.
    pub product: Option<Product>,
    /// What the customer paid.
    pub price: Option<Money>,
    /// Submissions started.
    pub attempts: i32,
    /// A person's verdict: whether it was delivered.
    pub resolved: Option<bool>,
    /// What an end without goods owes back.
    pub refund_owed: Option<Money>,
}

impl State {
    /// Nothing leads out of it.
    pub const fn is_terminal(&self) -> bool {
        match self {
            Self::Delivered | Self::Failed { .. } | Self::Cancelled => true,
            Self::Absent
            | Self::Owed
            | Self::Submitting { .. }
            | Self::Accepted { .. }
            | Self::RetryWait { .. }
            | Self::NeedsReview { .. } => false,
        }
    }
}

impl Delivery {
    /// A submission of this number was started.
    pub(super) fn has_started(&self, attempt: i32) -> bool {
        (1..=self.attempts).contains(&attempt)
    }

    /// The debt of an end without goods: once, and only when something was paid.
    pub(super) fn refund_due(&self, at: Timestamp) -> Option<Event> {
        let paid = self
            .price
            .filter(|price| price.amount_minor() > 0 && self.refund_owed.is_none());
        paid.map(|amount| Event::RefundOwed { amount, at })
    }

    /// Takes a fact as it is: rules were kept when it was decided.
    pub(super) fn evolve(&mut self, event: Event) {
        match event {
            Event::Owed {
                order_id,
                customer_id,
                product,
                price,
                ..
            } => {
                self.state = State::Owed;
                self.order_id = order_id;
                self.customer_id = customer_id;
                self.product = Some(product);
                self.price = Some(price);
            }
            Event::SubmissionStarted { attempt, deadline, .. } => {
                self.attempts = attempt;
                self.state = State::Submitting { attempt, deadline };
            }
            Event::Accepted {
                attempt,
                reference,
                poll_at,
                ..
            } => {
                self.state = State::Accepted {
                    attempt,
                    reference,
                    poll_at,
                };
            }
            Event::Delivered { .. } => self.state = State::Delivered,
            Event::AttemptFailed { retry_at, .. } => {
                if let Some(until) = retry_at {
                    self.state = State::RetryWait { until };
                }
            }
            Event::Parked { code, .. } => self.state = State::NeedsReview { code },
            Event::Resolved { delivered, .. } => {
                self.resolved = Some(delivered);
                self.state = if delivered {
                    State::Delivered
                } else {
                    State::Failed {
                        code: "resolved_not_delivered".to_owned(),
                    }
                };
            }
            Event::Failed { code, .. } => self.state = State::Failed { code },
            Event::Cancelled { .. } => self.state = State::Cancelled,
            Event::RefundOwed { amount, .. } => self.refund_owed = Some(amount),
        }
    }
}
