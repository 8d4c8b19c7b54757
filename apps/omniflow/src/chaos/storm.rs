//! The storm: orders come evenly, blows fall at their times, whoever fell is started again; then calm, and the count.

use std::{
    collections::VecDeque,
    mem,
    sync::Arc,
    time::{Duration, Instant},
};

use sandbox::{control::Client, faults::SimulatorName};

use super::{
    blow::{Blow, Timed},
    buyers::{Buyers, Wish},
    ground::Ground,
    panel,
    plan::Plan,
    report::{Count, Report},
    settling::{LOOK, Settled},
};
use crate::failure::Failure;

const TICK: Duration = Duration::from_millis(20);
/// No blow is put off for longer than this after the last order came.
const LATE: Duration = Duration::from_secs(60);
/// Every fourth plan order is paid at the simulated provider, whose webhooks meet the storm too.
const AT_PROVIDER: u32 = 4;

/// Plays the plan and judges what came of it.
pub(super) async fn play(plan: &Plan, ground: &mut Ground) -> Result<Report, Failure> {
    let mut blows: VecDeque<Timed> = plan.blows().into();
    let mut wishes: VecDeque<Wish> = wishes(plan).into();
    let mut buyers = Buyers::new(ground.shops()?, Arc::new(Client::of(&ground.folder)?));
    let (mut count, mut seen, mut looked) = (Count::default(), Settled::default(), Instant::now());
    if plan.kills > 0 {
        ground.control.add_faults(&panel::slow_gateway(plan.seed)).await?;
    }
    let pause = plan.span() / u32::try_from(wishes.len().max(1)).unwrap_or(u32::MAX);
    let (began, mut last_blow, mut number) = (Instant::now(), Instant::now(), 0_u32);
    // Whoever was to fall may be down already: such a blow falls once somebody stands again.
    let mut put_off: Vec<Blow> = Vec::new();
    loop {
        while wishes.front().is_some() && began.elapsed() >= pause.saturating_mul(number) {
            let wish = wishes.pop_front();
            wish.into_iter().for_each(|wish| buyers.come(number, wish));
            number = number.saturating_add(1);
        }
        let late = began.elapsed() > plan.span().saturating_add(LATE);
        let mut due = mem::take(&mut put_off);
        while let Some(timed) = blows.pop_front_if(|timed| timed.at <= began.elapsed()) {
            due.push(timed.blow);
        }
        for blow in due {
            if strike(ground, &blow, &mut count, late).await? {
                last_blow = Instant::now();
            } else {
                put_off.push(blow);
            }
        }
        if ground.fleet.tend()? {
            last_blow = Instant::now();
        }
        let bought = buyers.note();
        if blows.is_empty() && put_off.is_empty() && ground.fleet.complete() {
            if wishes.is_empty() && bought {
                break;
            }
            // Calm already, while the last buyers ask again: what settles now settles now.
            if looked.elapsed() > LOOK {
                seen.look(ground, &buyers.paid, last_blow).await;
                looked = Instant::now();
            }
        }
        tokio::time::sleep(TICK).await;
    }
    // An answer that was still to be lost may have been lost since.
    ground.proxy.behave();
    ground.control.clear_faults().await?;
    let storm = began.elapsed();
    seen.watch(ground, &buyers.paid, last_blow).await?;
    count.fleet = ground.fleet.toll;
    count.lost_acks = ground.proxy.lost();
    Report::of(plan, ground, &buyers, &seen, count, storm).await
}

/// Goods are spread among the plans.
fn wishes(plan: &Plan) -> Vec<Wish> {
    let all = plan.orders.saturating_add(plan.goods);
    let mut goods = 0_u32;
    (0..all)
        .map(|number| {
            let owed = u64::from(number).saturating_add(1).saturating_mul(plan.goods.into()) / u64::from(all.max(1));
            if u64::from(goods) < owed {
                goods = goods.saturating_add(1);
                return Wish::Goods(format!("chaos_{goods:06}"));
            }
            let at_provider = number.is_multiple_of(AT_PROVIDER);
            Wish::Plan { at_provider }
        })
        .collect()
}

/// `false` when it has to come later: there was nobody to be struck, or a troubled panel was not asked for
/// anything yet (unless it is late).
async fn strike(ground: &mut Ground, blow: &Blow, count: &mut Count, late: bool) -> Result<bool, Failure> {
    let struck = match *blow {
        Blow::Kill(role, which) => ground.fleet.kill(role, which)?,
        Blow::Pause(role, which, span) => ground.fleet.pause(role, which, span),
        Blow::Terminate(role, which) => ground.fleet.terminate(role, which),
        Blow::KillServer => {
            ground.kill_server().await?;
            count.server_kills = count.server_kills.saturating_add(1);
            true
        }
        Blow::Cut(refused) => {
            ground.proxy.cut(refused);
            tokio::time::sleep(refused).await;
            count.cuts = count.cuts.saturating_add(1);
            true
        }
        Blow::LoseAcknowledgement(writing) => {
            ground.proxy.lose_acknowledgement(writing);
            true
        }
        Blow::PanelTrouble(seed) => {
            ground.control.add_faults(&panel::trouble(seed)).await?;
            true
        }
        Blow::PanelHealthy(seed) => {
            let faults = ground.control.faults().await?;
            let fired = faults
                .iter()
                .filter(|counts| counts.rule.simulator == SimulatorName::Panel);
            count.panel_faults = fired.map(|counts| counts.fired).sum();
            if count.panel_faults == 0 && !late {
                return Ok(false);
            }
            ground.control.set_faults(&panel::slow_gateway(seed)).await?;
            true
        }
    };
    if struck {
        tracing::info!(?blow, "a blow");
    }
    Ok(struck)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_of_each_kind_come_as_were_asked_for() {
        let wishes = wishes(&Plan::of(1, 30, 7, 0));
        let goods = wishes.iter().filter(|wish| matches!(wish, Wish::Goods(_))).count();
        assert_eq!((wishes.len(), goods), (37, 7));
        assert!(!matches!(wishes.first(), Some(Wish::Goods(_))), "spread, not first");
    }
}
