//! The providers that this process was given, by slug.

use std::{collections::BTreeMap, sync::Arc};

use ports::{goods::GoodsProvider, payments::PaymentProvider};

/// Payment providers by slug.
#[derive(Clone, Debug, Default)]
pub struct PaymentProviders(BTreeMap<&'static str, Arc<dyn PaymentProvider>>);

impl PaymentProviders {
    /// Adds one; a second of the same slug replaces the first.
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn PaymentProvider>) -> Self {
        self.0.insert(provider.slug(), provider);
        self
    }

    /// The provider of this slug.
    pub fn get(&self, slug: &str) -> Option<&Arc<dyn PaymentProvider>> {
        self.0.get(slug)
    }

    /// All, in order of slug.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn PaymentProvider>> {
        self.0.values()
    }
}

/// Goods providers by slug.
#[derive(Clone, Debug, Default)]
pub struct GoodsProviders(BTreeMap<String, Arc<dyn GoodsProvider>>);

impl GoodsProviders {
    /// Adds one; a second of the same slug replaces the first.
    #[must_use]
    pub fn with(mut self, provider: Arc<dyn GoodsProvider>) -> Self {
        self.0.insert(provider.slug().to_owned(), provider);
        self
    }

    /// The provider of this slug.
    pub fn get(&self, slug: &str) -> Option<&Arc<dyn GoodsProvider>> {
        self.0.get(slug)
    }
}
