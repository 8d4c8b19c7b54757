//! The use cases of one process, over a database whose schema was checked.

use std::sync::Arc;

use queue::JobClient;
use secrets::DataKey;
use service::{Service, notice_dispatch::NoticeDispatch};
use sqlx::PgPool;
use store::{Hinter, Mode, PoolOptions, Store, check_applied, command_pool};

use crate::{
    config::Config,
    failure::Failure,
    wiring::adapters::{Adapters, Operators},
};

/// What every process is made of.
#[derive(Clone, Debug)]
pub struct Core {
    /// The use cases, with an inserting client of the queue.
    pub service: Service,
    /// The pool that commands run on.
    pub pool: PgPool,
    /// What the database is for.
    pub mode: Mode,
}

/// Opens the command pool and refuses a database of another schema.
///
/// # Errors
/// [`Failure::Unavailable`] when nobody answers or a migration is missing.
pub async fn connect(options: &PoolOptions) -> Result<(PgPool, Mode), Failure> {
    let pool = command_pool(options).await?;
    let mode = check_applied(&pool).await?;
    Ok((pool, mode))
}

/// Puts the use cases together.
///
/// # Errors
/// [`Failure::Unavailable`] when the hint's connection cannot be configured.
pub fn assemble(
    (pool, mode): (PgPool, Mode),
    options: &PoolOptions,
    adapters: &Adapters,
    data_key: Option<&DataKey>,
) -> Result<Core, Failure> {
    let store = Store::new(pool.clone()).with_hinter(Hinter::start(options)?);
    let service = Service::builder(store)
        .queue(JobClient::new(pool.clone()))
        .providers(adapters.payments.clone())
        .goods(adapters.goods.clone(), data_key.is_some())
        .panel_webhooks(adapters.panel_webhooks.clone())
        .catalog(Arc::clone(&adapters.catalog))
        .build();
    Ok(Core { service, pool, mode })
}

impl Core {
    /// What tells operators, where there is a group.
    pub fn notices(&self, operators: Option<Operators>, config: &Config) -> Option<NoticeDispatch> {
        operators.map(|Operators { channel, chat }| {
            NoticeDispatch::new(
                self.service.store().clone(),
                Arc::clone(self.service.ids()),
                channel,
                chat,
                config.notices.cap,
            )
        })
    }
}
