//! Money: asking for it, seeing it, and what seeing it leads to.

mod complete_intent;
pub mod manual_decision;
pub mod observe_payment;
pub mod reconcile_payment;
pub mod start_payment;
