//! Where the gateway is and who we are to it.

use std::fmt;

use domain::money::Currency;
use secrets::Secret;
use serde::Deserialize;

/// The gateway's configuration, as it is sealed at rest: `{baseUrl, token, currency?}`.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FragmentOptions {
    /// Without a trailing slash; may have a path.
    pub base_url: String,
    /// Password of the user `omniflow`.
    pub token: Secret,
    /// Currency of the prices that the gateway tells; roubles when absent.
    pub currency: Option<Currency>,
}

impl fmt::Debug for FragmentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FragmentOptions")
            .field("base_url", &secrets::redact::address(&self.base_url))
            .field("currency", &self.currency)
            .finish_non_exhaustive()
    }
}
