//! What every use case works with.

use std::sync::Arc;

use ports::{
    clock::{Clock, SystemClock},
    ids::{Ids, SystemIds},
};

use crate::{GoodsProviders, PaymentProviders, catalog::Catalog};

/// The use cases. Cheap to clone: all parts are shared.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) providers: PaymentProviders,
    pub(crate) goods: GoodsProviders,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) goods_enabled: bool,
}

impl Service {
    /// Starts with the machine's clock and ids, and nothing to sell or to be paid with.
    pub fn builder() -> Builder {
        Builder {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            providers: PaymentProviders::default(),
            goods: GoodsProviders::default(),
            catalog: Arc::default(),
            goods_enabled: false,
        }
    }

    /// What is for sale.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Where domain times come from.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Where ids come from.
    pub fn ids(&self) -> &Arc<dyn Ids> {
        &self.ids
    }
}

/// Puts a [`Service`] together.
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    providers: PaymentProviders,
    goods: GoodsProviders,
    catalog: Arc<Catalog>,
    goods_enabled: bool,
}

impl Builder {
    /// Another clock.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Another source of ids.
    pub fn ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Who brings money.
    pub fn providers(mut self, providers: PaymentProviders) -> Self {
        self.providers = providers;
        self
    }

    /// Who delivers goods. Without `enabled` (no data key) goods orders are refused.
    pub fn goods(mut self, providers: GoodsProviders, enabled: bool) -> Self {
        self.goods = providers;
        self.goods_enabled = enabled;
        self
    }

    /// What is for sale.
    pub fn catalog(mut self, catalog: Arc<Catalog>) -> Self {
        self.catalog = catalog;
        self
    }

    /// The finished service.
    pub fn build(self) -> Service {
        Service {
            clock: self.clock,
            ids: self.ids,
            providers: self.providers,
            goods: self.goods,
            catalog: self.catalog,
            goods_enabled: self.goods_enabled,
        }
    }
}
