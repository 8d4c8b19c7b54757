//! `sandbox.json`: where the simulators listen and what they accept. Processes of one installation find them through it.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{SandboxError, private_file};

/// One simulator: base URL without a trailing slash, and the token that it accepts.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    pub url: String,
    pub token: String,
}

/// The panel also signs webhooks.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PanelEndpoint {
    pub url: String,
    pub token: String,
    pub webhook_secret: String,
}

/// Where the simulators of a running sandbox are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Addresses {
    pub panel: PanelEndpoint,
    pub cryptopay: Endpoint,
    pub goods: Endpoint,
    /// Empty in the file of a version that had no such simulator.
    #[serde(default)]
    pub telegram: Endpoint,
    pub control: Endpoint,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PanelEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PanelEndpoint")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Addresses {
    /// The file of a data directory.
    pub fn path(data_dir: &Path) -> PathBuf {
        data_dir.join("sandbox.json")
    }

    /// Reads the addresses of the last start; `None` when no sandbox was ever started here. Whether it still runs is not known.
    ///
    /// # Errors
    /// The file cannot be read or is not ours.
    pub fn read(data_dir: &Path) -> Result<Option<Self>, SandboxError> {
        private_file::read(&Self::path(data_dir))
    }

    pub(crate) fn write(&self, data_dir: &Path) -> Result<(), SandboxError> {
        private_file::write(&Self::path(data_dir), self)
    }
}

/// The port of a base URL of ours.
pub(crate) fn port_of(url: &str) -> Option<u16> {
    url.rsplit(':').next()?.parse().ok()
}
