//! Drives sample orders through the HTTP API, as a client would, and judges a run by the simulators' journals.
//! `up`, `demo` and the fault drills use it.

mod shop;
mod verdict;

pub use shop::{Bought, Goods, Paid, Shop, ShopError};
pub use verdict::{Verdict, judge};
