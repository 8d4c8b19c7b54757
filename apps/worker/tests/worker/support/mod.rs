//! A database, a panel in memory, and orders that were paid.

mod panel;
mod stage;

pub(crate) use panel::{FakePanel, Script, error};
pub(crate) use stage::Stage;
