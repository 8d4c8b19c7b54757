//! Providers of digital goods.

use std::fmt::Debug;

use async_trait::async_trait;
use domain::{delivery::Submission, goods::Kind, ids::OrderId};

/// One submission.
#[derive(Clone, PartialEq, Eq)]
pub struct SubmitRequest {
    /// Whose goods these are. Also the id of the delivery.
    pub order_id: OrderId,
    /// `goods:<order id>`, for providers that honour one.
    pub idempotency_key: String,
    /// What is to be delivered, once.
    pub kind: Kind,
    /// Normalised Telegram username of the recipient.
    pub username: String,
    /// Telegram id of the buyer, where known.
    pub telegram_user_id: Option<i64>,
}

impl Debug for SubmitRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubmitRequest")
            .field("order_id", &self.order_id)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The adapter could not classify what happened: always treated as ambiguous, code `adapter_error`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the goods adapter failed: {detail}")]
pub struct AdapterError {
    /// A stable code; no body, no address, no secret.
    pub detail: String,
}

/// One provider.
#[async_trait]
pub trait GoodsProvider: Send + Sync + Debug {
    /// Stable slug, as in the catalog.
    fn slug(&self) -> &str;
    /// The provider promises that repeating a submission with its key buys once.
    fn is_idempotent(&self) -> bool;
    /// Submits. Returns a class for everything the provider or the transport can do; an `Err` is ambiguous.
    async fn submit(&self, request: &SubmitRequest) -> Result<Submission, AdapterError>;
    /// Asks for the outcome of an accepted submission; `None` is: still working. A provider that cannot be asked answers ambiguous,
    /// code `poll_unsupported`.
    async fn poll(&self, reference: &str) -> Result<Option<Submission>, AdapterError>;
    /// What one product of this kind (all its Stars, its whole term) costs the seller in minor units of `currency`; `None` when the
    /// provider publishes no price for it, or none in that currency.
    async fn unit_cost_minor(&self, kind: Kind, currency: domain::money::Currency)
    -> Result<Option<i64>, AdapterError>;
}
