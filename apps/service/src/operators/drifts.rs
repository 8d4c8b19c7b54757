//! Where the panel differs, as operators see it.

use store::drifts;

use crate::{Error, Service};

pub use store::drifts::DriftRow as DriftView;

impl Service {
    /// Open differences, newest first.
    ///
    /// # Errors
    /// A fault of the store.
    pub async fn list_drifts(&self, limit: i64) -> Result<Vec<DriftView>, Error> {
        Ok(drifts::list(self.store.pool(), Some("open"), None, limit).await?)
    }
}
