//! What a troubled panel does, and a slow goods gateway.

use sandbox::faults::{Fault, FaultRule, SimulatorName};

/// The client waits ten seconds.
const LATER_THAN_ANYBODY_WAITS_MS: u64 = 11_000;
/// Long enough for a kill to fall into either window of a submission now and then.
const WINDOW_MS: u64 = 400;

/// Three of ten requests get a 5xx, some as a proxy's page; others 429, no answer, an answer that comes too late or that nobody can read.
pub(super) fn trouble(seed: u64) -> Vec<FaultRule> {
    let kinds = [
        (110, Fault::status(500)),
        (110, Fault::html(502)),
        (130, Fault::status(503)),
        (50, Fault::rate_limited(1)),
        (30, Fault::reset_before()),
        (30, Fault::lost_answer()),
        (20, Fault::garbage()),
        (10, Fault::late_answer(LATER_THAN_ANYBODY_WAITS_MS)),
    ];
    (seed..)
        .zip(kinds)
        .map(|(seed, (per_thousand, fault))| {
            FaultRule::new(SimulatorName::Panel, "* /api/**", fault).chance(per_thousand, seed)
        })
        .collect()
}

/// The gateway takes its time before, or after, it delivers.
pub(super) fn slow_gateway(seed: u64) -> Vec<FaultRule> {
    [Fault::slow(WINDOW_MS), Fault::late_answer(WINDOW_MS)]
        .into_iter()
        .zip(seed..)
        .map(|(fault, seed)| FaultRule::new(SimulatorName::Goods, "POST /**", fault).chance(350, seed))
        .collect()
}
