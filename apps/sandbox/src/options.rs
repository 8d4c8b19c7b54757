//! How a sandbox is started.

use std::{path::PathBuf, sync::Arc};

use ports::clock::{Clock, SystemClock};

use crate::faults::FaultRule;

/// Ports to try first. A port that is taken is not an error: another one is used and written to the addresses file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PreferredPorts {
    pub panel: Option<u16>,
    pub cryptopay: Option<u16>,
    pub goods: Option<u16>,
    pub telegram: Option<u16>,
    pub control: Option<u16>,
}

/// Everything [`crate::start()`] needs to know.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The installation's data directory. `sandbox.json` and the folder `sandbox` are made in it.
    pub data_dir: PathBuf,
    /// Tried before the ports of the last start.
    pub ports: PreferredPorts,
    /// Decides what has expired.
    pub clock: Arc<dyn Clock>,
    /// In force from the first request on.
    pub faults: Vec<FaultRule>,
}

impl SandboxOptions {
    /// On the machine's clock, without faults, on the ports of the last start or free ones.
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            data_dir: data_dir.into(),
            ports: PreferredPorts::default(),
            clock: Arc::new(SystemClock),
            faults: Vec::new(),
        }
    }
}
