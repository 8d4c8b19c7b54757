//! Tokens and secrets of the simulators: made once, kept in the data directory, so that a restart changes no configuration.

use std::path::Path;

use rand::{Rng as _, distr::Alphanumeric};
use serde::{Deserialize, Serialize};

use crate::{SandboxError, private_file};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    pub(crate) panel: String,
    pub(crate) panel_webhook_secret: String,
    pub(crate) cryptopay: String,
    pub(crate) goods: String,
    /// Empty in the file of a version that had no such simulator.
    #[serde(default)]
    pub(crate) telegram: String,
    pub(crate) control: String,
}

impl Tokens {
    /// Reads the tokens of a sandbox folder, or makes and stores them.
    pub(crate) fn read_or_make(sandbox_dir: &Path) -> Result<Self, SandboxError> {
        let path = sandbox_dir.join("tokens.json");
        if let Some(mut tokens) = private_file::read::<Self>(&path)? {
            if tokens.telegram.is_empty() {
                tokens.telegram = bot_token();
                private_file::write(&path, &tokens)?;
            }
            return Ok(tokens);
        }
        let tokens = Self {
            panel: format!("sandbox-panel-{}", random(40)),
            panel_webhook_secret: random(48),
            cryptopay: format!("{}:{}", rand::rng().random_range(10_000..100_000), random(35)),
            goods: format!("sandbox-goods-{}", random(32)),
            telegram: bot_token(),
            control: format!("sandbox-control-{}", random(32)),
        };
        private_file::write(&path, &tokens)?;
        Ok(tokens)
    }
}

/// Of the form that BotFather gives.
fn bot_token() -> String {
    format!(
        "{}:AA{}",
        rand::rng().random_range(100_000_000_u32..1_000_000_000),
        random(33)
    )
}

fn random(length: usize) -> String {
    rand::rng()
        .sample_iter(Alphanumeric)
        .take(length)
        .map(char::from)
        .collect()
}
