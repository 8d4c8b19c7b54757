//! The durable record of what a simulator did: one JSON line an effect, written by one `write(2)` before the answer is sent.
//! It survives `kill -9` of the process; it is not synced, so it does not promise to survive the machine.

mod file;
mod ledger;

use std::path::{Path, PathBuf};

pub use file::{Entry, Journal, read_entries};
pub use ledger::{Ledger, Replay};

pub use crate::{
    cryptopay::{CryptopayReport, cryptopay_report},
    goods::{GoodsReport, goods_report},
    panel::{PanelReport, panel_report},
    telegram::{TelegramReport, telegram_report},
};

/// The folder of a data directory that holds the journals.
pub fn dir(data_dir: &Path) -> PathBuf {
    data_dir.join("sandbox")
}

/// The journal of one simulator (`panel`, `cryptopay`, `goods`, `telegram`) in its folder.
pub fn path(sandbox_dir: &Path, simulator: &str) -> PathBuf {
    sandbox_dir.join(format!("{simulator}.journal.jsonl"))
}
