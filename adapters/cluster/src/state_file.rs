//! What a start leaves for the next one and for those who attach: where it listens and how it was started. No secret.

use crate::error::{At as _, ClusterError};
use crate::place::Place;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct State {
    pub(crate) socket_dir: PathBuf,
    /// Names the socket file; a port of 127.0.0.1 as well when `loopback` is set.
    pub(crate) port: u16,
    pub(crate) loopback: bool,
    pub(crate) parameters: Vec<String>,
    /// Whether the server was meant to outlive the command that started it.
    pub(crate) standing: bool,
}

impl State {
    /// The state of the last start; a missing or torn file counts as none.
    pub(crate) fn read(place: &Place) -> Option<Self> {
        serde_json::from_slice(&fs::read(place.state_file()).ok()?).ok()
    }

    /// Replaces the file as a whole: who reads it meanwhile sees the old or the new one.
    pub(crate) fn write(&self, place: &Place) -> Result<(), ClusterError> {
        let (path, unfinished) = (place.state_file(), place.state_file().with_extension("unfinished"));
        fs::write(&unfinished, serde_json::to_vec_pretty(self).unwrap_or_default()).at(&unfinished)?;
        fs::rename(&unfinished, &path).at(&path)
    }
}
