//! The operator's token and the data key: of the settings, or in a sandbox those that its data directory keeps.

use std::path::Path;

use secrets::{DataKey, Secret};
use store::Mode;

use crate::{config::Config, failure::Failure, wiring::data_dir::DataDir};

/// Keys of an installation.
pub struct Keys {
    /// Bearer token of the admin routes; `None` refuses every call.
    pub operator_token: Option<Secret>,
    /// Without it digital goods are off.
    pub data_key: Option<DataKey>,
}

/// A live installation uses what was configured and nothing else.
///
/// # Errors
/// [`Failure::Unavailable`] when a sandbox's keys can be neither read nor made.
pub fn keys_of(mode: Mode, config: &mut Config, data_dir: &Path) -> Result<Keys, Failure> {
    let mut keys = Keys {
        operator_token: config.operator_token.take(),
        data_key: config.data_key.take(),
    };
    if matches!(mode, Mode::Sandbox) {
        let dir = DataDir::open(data_dir)?;
        keys.operator_token = Some(keys.operator_token.map_or_else(|| dir.operator_token(), Ok)?);
        keys.data_key = Some(keys.data_key.map_or_else(|| dir.data_key(), Ok)?);
    }
    Ok(keys)
}
