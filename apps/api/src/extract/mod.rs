//! What handlers ask of a request, as types: their signatures show what a route needs.

mod caller;
mod json;
mod key;
mod operator;
mod params;
mod reason;

pub(crate) use caller::Request;
pub(crate) use json::{Body, MAX_BODY_BYTES};
pub(crate) use key::Key;
pub(crate) use operator::Operator;
pub(crate) use params::{AtLeast, Id, JobId, Search};
pub(crate) use reason::{MaybeReason, Reason};
