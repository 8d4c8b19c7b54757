//! A calm counterpart: orders are paid for while no worker runs, and one worker then works them off.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sandbox::control::Client;
use store::summary::fulfilled_orders;

use super::{
    buyers::{Buyers, Wish},
    fleet::Role,
    ground::Ground,
};
use crate::failure::Failure;

/// Buyers on their way at once.
const AT_ONCE: usize = 16;
/// For all orders together, each way.
const PATIENCE: Duration = Duration::from_secs(600);

/// From the first fulfilled order to the last, as seen every few milliseconds.
pub(super) async fn play(orders: u32, ground: &mut Ground) -> Result<Duration, Failure> {
    let mut buyers = Buyers::new(ground.shops()?, Arc::new(Client::of(&ground.folder)?));
    let deadline = Instant::now() + PATIENCE;
    for number in 0..orders {
        while buyers.on_their_way() >= AT_ONCE {
            in_time(deadline)?;
            tokio::time::sleep(Duration::from_millis(1)).await;
            buyers.note();
        }
        buyers.come(number, Wish::Plan { at_provider: false });
    }
    while !buyers.note() {
        in_time(deadline)?;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if let Some(reason) = buyers.refused.first() {
        return Err(Failure::unavailable(reason));
    }

    ground.employ(Role::Worker)?;
    let (deadline, mut first) = (Instant::now() + PATIENCE, None);
    loop {
        in_time(deadline)?;
        let done = fulfilled_orders(&ground.pool).await?.len();
        if done > 0 {
            first.get_or_insert_with(Instant::now);
        }
        match first {
            Some(first) if done >= buyers.paid.len() => return Ok(first.elapsed()),
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

fn in_time(deadline: Instant) -> Result<(), Failure> {
    if Instant::now() > deadline {
        return Err(Failure::unavailable("the orders did not get through in ten minutes"));
    }
    Ok(())
}
