//! A database, a panel and a goods provider in memory, and orders that were paid.

mod fresh_jobs;
mod goods;
pub(crate) mod histories;
mod panel;
mod stage;
mod upkeep;

pub(crate) use goods::{FakeGoods, Shop};
pub(crate) use panel::{FakePanel, Script, error};
pub(crate) use stage::{Paid, Stage};
