//! Bringing read models up to where the log is settled, without the endless runner.

use std::time::Duration;

use projectors::{
    Projection,
    deliveries::Deliveries,
    entitlements::Entitlements,
    operations_view::OperationsView,
    orders::Orders,
    runner::{Follower, Step},
};
use store::high_water;

use crate::log::Log;

/// Runs one projection up to where the log is settled.
pub(crate) async fn follow<P: Projection>(log: &Log) {
    let head = high_water::settle(&mut log.pool.acquire().await.unwrap(), Duration::from_secs(20))
        .await
        .unwrap();
    let mut follower = Follower::<P>::new(log.pool.clone());
    loop {
        match follower.step(head).await.unwrap() {
            Step::Level => return,
            Step::Moved | Step::Taken => {}
            Step::Soon(wait) => tokio::time::sleep(wait).await,
        }
    }
}

pub(crate) async fn follow_all(log: &Log) {
    follow::<Orders>(log).await;
    follow::<Entitlements>(log).await;
    follow::<OperationsView>(log).await;
    follow::<Deliveries>(log).await;
}
