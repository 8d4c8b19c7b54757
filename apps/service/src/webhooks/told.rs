//! What a call said, as it is kept beside the call.

use domain::money::Money;
use ports::payments::{Observed, Status};
use serde::{Deserialize, Serialize};

/// The part of an [`Observed`] that processing needs, without the checkout link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Told {
    pub(super) reference: String,
    pub(super) merchant_reference: Option<String>,
    pub(super) status: String,
    pub(super) amount: Money,
}

impl Told {
    pub(super) fn of(observed: &Observed) -> Self {
        Self {
            reference: observed.reference.clone(),
            merchant_reference: observed.merchant_reference.clone(),
            status: observed.status.as_str().to_owned(),
            amount: observed.amount,
        }
    }

    /// `None` for a word that this version does not know.
    pub(super) fn status(&self) -> Option<Status> {
        [
            Status::Pending,
            Status::RequiresAction,
            Status::Processing,
            Status::Succeeded,
            Status::Failed,
            Status::Cancelled,
            Status::Expired,
        ]
        .into_iter()
        .find(|status| status.as_str() == self.status)
    }
}
