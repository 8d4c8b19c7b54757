//! Why an order refuses a command.

use crate::aggregate::Rejection;

/// A refused command. The code is API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such order.
    #[error("the order does not exist")]
    NotFound,
    /// Amounts do not add up, are negative or out of range.
    #[error("the amounts of the order do not add up")]
    InvalidAmounts,
    /// Terms or goods that could not be provided.
    #[error("what is ordered could not be provided")]
    InvalidItem,
    /// An order of this id exists with other content.
    #[error("an order of this id exists with other content")]
    AlreadyPlaced,
    /// Nothing is left for a provider to bring.
    #[error("the order needs no payment")]
    PaymentNotRequired,
    /// Paid, cancelled, expired or past its window.
    #[error("the order can no longer be paid")]
    NotPayable,
    /// An intent of this id exists with another provider or amount.
    #[error("the payment intent exists with other content")]
    IntentConflict,
    /// The payment names an intent that this order never opened.
    #[error("the payment names an intent of another order")]
    UnknownIntent,
    /// Nothing, or less than nothing, is no payment.
    #[error("the payment is of no amount")]
    InvalidPayment,
    /// Paid or expired already.
    #[error("the order can no longer be cancelled")]
    NotCancellable,
    /// Unpaid, cancelled or expired.
    #[error("only a paid order can be fulfilled")]
    NotPaid,
}

impl Rejection for Error {
    fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "order_not_found",
            Self::InvalidAmounts | Self::InvalidItem | Self::AlreadyPlaced => "order_rejected",
            Self::PaymentNotRequired => "payment_not_required",
            Self::NotPayable => "order_not_payable",
            Self::IntentConflict | Self::InvalidPayment => "payment_rejected",
            Self::UnknownIntent => "payment_not_found",
            Self::NotCancellable => "order_cancellation_rejected",
            Self::NotPaid => "order_not_paid",
        }
    }
}
