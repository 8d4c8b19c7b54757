//! What every use case works with.

use std::sync::Arc;

use ports::{
    clock::{Clock, SystemClock},
    ids::{Ids, SystemIds},
    panel_webhooks::PanelWebhooks,
};
use queue::JobClient;
use store::Store;

use crate::{GoodsProviders, PaymentProviders, catalog::Catalog, maintenance::Gate, webhooks::Forgeries};

/// The use cases. Cheap to clone: all parts are shared.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) store: Store,
    pub(crate) queue: Option<JobClient>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) providers: PaymentProviders,
    pub(crate) goods: GoodsProviders,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) goods_enabled: bool,
    pub(crate) panel_webhooks: Option<Arc<dyn PanelWebhooks>>,
    pub(crate) forgeries: Arc<Forgeries>,
    pub(crate) gate: Gate,
}

impl Service {
    /// Over a store, with the machine's clock and ids, and nothing to sell or to be paid with.
    pub fn builder(store: Store) -> Builder {
        Builder {
            store,
            queue: None,
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            providers: PaymentProviders::default(),
            goods: GoodsProviders::default(),
            catalog: Arc::default(),
            goods_enabled: false,
            panel_webhooks: None,
        }
    }

    /// The event store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The queue, where this process has a client of it.
    pub fn queue(&self) -> Option<&JobClient> {
        self.queue.as_ref()
    }

    /// Who brings money.
    pub fn providers(&self) -> &PaymentProviders {
        &self.providers
    }

    /// Who delivers goods.
    pub fn goods(&self) -> &GoodsProviders {
        &self.goods
    }

    /// Goods are sold and delivered.
    pub fn goods_enabled(&self) -> bool {
        self.goods_enabled
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
    store: Store,
    queue: Option<JobClient>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    providers: PaymentProviders,
    goods: GoodsProviders,
    catalog: Arc<Catalog>,
    goods_enabled: bool,
    panel_webhooks: Option<Arc<dyn PanelWebhooks>>,
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

    /// Inserts and changes jobs. Without it the job use cases answer `jobs_unavailable`.
    pub fn queue(mut self, queue: JobClient) -> Self {
        self.queue = Some(queue);
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

    /// Tells hints of the panel from forgeries. Without it none is taken in.
    pub fn panel_webhooks(mut self, webhooks: Option<Arc<dyn PanelWebhooks>>) -> Self {
        self.panel_webhooks = webhooks;
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
            gate: Gate::new(self.store.clone()),
            store: self.store,
            queue: self.queue,
            clock: self.clock,
            ids: self.ids,
            providers: self.providers,
            goods: self.goods,
            catalog: self.catalog,
            goods_enabled: self.goods_enabled,
            panel_webhooks: self.panel_webhooks,
            forgeries: Arc::default(),
        }
    }
}
