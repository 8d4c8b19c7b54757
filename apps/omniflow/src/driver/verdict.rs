//! Lost and duplicated, by the simulators' journals (design: lost = paid for, no effect, not visibly parked).

use std::{collections::BTreeSet, path::Path};

use sandbox::{
    SandboxError,
    journal::{goods_report, panel_report},
};
use uuid::Uuid;

/// What the outside world saw of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Users on the panel.
    pub users: u64,
    /// Users beyond one per subscription.
    pub duplicate_users: u64,
    /// Submissions that the goods gateway accepted.
    pub submissions: u64,
    /// Goods orders whose goods the gateway accepted.
    pub delivered: u64,
    /// Paid orders without an effect, which nobody can see either.
    pub lost: Vec<Uuid>,
    /// Orders with more than one effect.
    pub duplicated: Vec<Uuid>,
}

/// Looks for the effect of each paid order. `plans` are (order, subscription), `goods` (order, recipient: one order each);
/// `parked` are orders that wait visibly for a person.
///
/// # Errors
/// The journals cannot be read.
pub fn judge(
    data_dir: &Path,
    plans: &[(Uuid, Uuid)],
    goods: &[(Uuid, String)],
    parked: &BTreeSet<Uuid>,
) -> Result<Verdict, SandboxError> {
    let panel = panel_report(data_dir)?;
    let gateway = goods_report(data_dir)?;
    let mut verdict = Verdict {
        users: panel.users,
        duplicate_users: panel.duplicate_users,
        submissions: gateway.accepted,
        ..Verdict::default()
    };
    for (order, subscription) in plans {
        let users = panel
            .users_by_subscription
            .get(&subscription.to_string())
            .map_or(0, Vec::len);
        verdict.note(*order, users, parked);
    }
    for (order, recipient) in goods {
        let submissions = gateway.submissions_to(recipient);
        verdict.delivered = verdict.delivered.saturating_add(u64::from(submissions > 0));
        verdict.note(*order, usize::try_from(submissions).unwrap_or(usize::MAX), parked);
    }
    Ok(verdict)
}

impl Verdict {
    fn note(&mut self, order: Uuid, effects: usize, parked: &BTreeSet<Uuid>) {
        match effects {
            0 if !parked.contains(&order) => self.lost.push(order),
            0 | 1 => {}
            _ => self.duplicated.push(order),
        }
    }
}
