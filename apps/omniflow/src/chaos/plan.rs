//! How much of everything, and when: the same numbers and seed give the same faults at the same times.

use std::time::Duration;

use rand::{Rng as _, SeedableRng as _, rngs::StdRng};

use super::{
    blow::{Blow, Timed, Writing},
    fleet::Role,
};

/// Longer than the queue takes to call a running job lost (30 s), with its upkeep: whoever wakes then was replaced.
const LONG_PAUSE: Duration = Duration::from_secs(36);
/// Of an API: its clients and their transactions wait meanwhile.
const SHORT_PAUSE: Duration = Duration::from_secs(4);
/// Of the storm for each order: as much as two cores carry beside everything else.
const A_ORDER: Duration = Duration::from_millis(80);
/// Of the storm for each kill, so that a process comes up between two of its own.
const A_KILL: Duration = Duration::from_millis(1_200);
/// The panel is healthy again after this part of the storm. An attempt that failed shortly before is due again after as long as it was
/// retried so far, so the rest of the storm and a minute hold the last of them.
const TROUBLED: f64 = 0.5;

/// What a storm is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Everything that is drawn comes from it.
    pub seed: u64,
    /// Plan orders.
    pub orders: u32,
    /// Goods orders.
    pub goods: u32,
    /// SIGKILL of a worker (three of four) or of an API.
    pub kills: u32,
    /// SIGSTOP of a worker for longer than the rescue window, then SIGCONT; and as often of an API, for seconds.
    pub pauses: u32,
    /// SIGTERM of a worker or of an API.
    pub stops: u32,
    /// SIGKILL of the database server, and its restart.
    pub server_kills: u32,
    /// Every connection to the database is cut, and new ones are refused for up to three seconds.
    pub cuts: u32,
    /// A commit that the server carried out and whose answer never arrives.
    pub lost_acks: u32,
    /// Whether the panel answers nonsense during the first half: three of ten requests 5xx (some as a proxy's page), 429, resets,
    /// answers lost or too late after the change was made.
    pub panel_trouble: bool,
}

impl Plan {
    /// A storm of this many kills, with the other faults in proportion.
    pub fn of(seed: u64, orders: u32, goods: u32, kills: u32) -> Self {
        Self {
            seed,
            orders,
            goods,
            kills,
            pauses: kills / 25,
            stops: kills / 10,
            server_kills: kills / 25,
            cuts: kills / 5,
            lost_acks: kills / 2,
            panel_trouble: kills > 0,
        }
    }

    /// The command that plays it again.
    pub(super) fn rerun(&self) -> String {
        let numbers = [
            ("orders", self.orders),
            ("goods", self.goods),
            ("kills", self.kills),
            ("pauses", self.pauses),
            ("stops", self.stops),
            ("server-kills", self.server_kills),
            ("cuts", self.cuts),
            ("lost-acks", self.lost_acks),
        ];
        let numbers = numbers.map(|(name, number)| format!(" --{name} {number}")).concat();
        let panel = if self.panel_trouble { "" } else { " --calm-panel" };
        format!("omniflow chaos{numbers}{panel} --seed {}", self.seed)
    }

    /// How long the storm lasts. Orders are placed evenly over it.
    pub(super) fn span(&self) -> Duration {
        let orders = A_ORDER.saturating_mul(self.orders.saturating_add(self.goods));
        let kills = A_KILL.saturating_mul(self.kills);
        let pauses = if self.pauses > 0 {
            LONG_PAUSE.saturating_add(Duration::from_secs(10))
        } else {
            Duration::ZERO
        };
        orders.max(kills).max(pauses).max(Duration::from_secs(2))
    }

    /// Every blow with its time, in order.
    pub(super) fn blows(&self) -> Vec<Timed> {
        let mut random = StdRng::seed_from_u64(self.seed);
        let span = self.span();
        let mut blows = Vec::new();
        let mut strike = |at: Duration, blow: Blow| blows.push(Timed { at, blow });
        for number in 0..self.kills {
            let role = if number % 4 == 3 { Role::Api } else { Role::Worker };
            strike(within(&mut random, span), Blow::Kill(role, random.random()));
        }
        for _ in 0..self.pauses {
            for (role, lasts) in [(Role::Worker, LONG_PAUSE), (Role::Api, SHORT_PAUSE)] {
                let at = within(&mut random, span.saturating_sub(lasts));
                strike(at, Blow::Pause(role, random.random(), lasts));
            }
        }
        for number in 0..self.stops {
            let role = if number % 3 == 2 { Role::Api } else { Role::Worker };
            strike(within(&mut random, span), Blow::Terminate(role, random.random()));
        }
        for _ in 0..self.server_kills {
            strike(within(&mut random, span), Blow::KillServer);
        }
        for _ in 0..self.cuts {
            let refused = Duration::from_millis(random.random_range(0..3_000));
            strike(within(&mut random, span), Blow::Cut(refused));
        }
        for number in 0..self.lost_acks {
            // The log's own commits twice as often as any other.
            let writing = if number % 3 == 2 { Writing::Any } else { Writing::Events };
            strike(within(&mut random, span), Blow::LoseAcknowledgement(writing));
        }
        if self.panel_trouble {
            strike(Duration::ZERO, Blow::PanelTrouble(random.random()));
            strike(span.mul_f64(TROUBLED), Blow::PanelHealthy(random.random()));
        }
        blows.sort_by_key(|timed| timed.at);
        blows
    }
}

fn within(random: &mut StdRng, span: Duration) -> Duration {
    span.mul_f64(random.random_range(0.0..1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_storm_again_and_another_one_another() {
        let plan = Plan::of(7, 1_000, 100, 50);
        let told = |plan: &Plan| format!("{:?}", plan.blows());
        assert_eq!(told(&plan), told(&plan.clone()));
        assert_ne!(told(&plan), told(&Plan::of(8, 1_000, 100, 50)));
    }

    #[test]
    fn every_blow_falls_within_the_storm_and_as_often_as_asked() {
        let plan = Plan::of(7, 1_000, 100, 50);
        let blows = plan.blows();
        assert!(blows.iter().all(|timed| timed.at <= plan.span()));
        assert!(blows.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let count = |kind: fn(&Blow) -> bool| blows.iter().filter(|timed| kind(&timed.blow)).count();
        assert_eq!(count(|blow| matches!(blow, Blow::Kill(..))), 50);
        assert_eq!(count(|blow| matches!(blow, Blow::Pause(Role::Worker, ..))), 2);
        assert_eq!(count(|blow| matches!(blow, Blow::KillServer)), 2);
        assert_eq!(count(|blow| matches!(blow, Blow::LoseAcknowledgement(_))), 25);
        assert_eq!(count(|blow| matches!(blow, Blow::PanelHealthy(_))), 1);
    }

    #[test]
    fn what_failed_under_a_troubled_panel_is_due_again_within_a_minute_of_the_storm() {
        for kills in [4, 50, 200] {
            let span = Plan::of(1, 100, 0, kills).span();
            // Attempts fail at 0, 10, 30, 70, … s; the last of them before the panel is healthy decides.
            let mut due = Duration::ZERO;
            let mut failed = 0;
            while due <= span.mul_f64(TROUBLED) {
                failed += 1;
                due += domain::fulfillment::retry_delay(failed);
            }
            assert!(due < span + Duration::from_secs(60), "{kills}: {due:?} of {span:?}");
        }
    }
}
