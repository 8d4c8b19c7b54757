//! Making the panel show a desired state. Every push is whole, so repeating it changes nothing.

use chrono::SubsecRound as _;
use domain::{
    entitlement::{Access, OperationKind, RemoteStatus, remote_description, remote_username},
    time::Timestamp,
};
use ports::panel::{FailureKind, PanelError, PanelWriter, Push, RemoteUser};
use service::fulfillment::{Claimed, Shown};

pub use crate::sender::{SendError, Sender};

/// Code of a remote name that somebody else's user holds. Never adopted, never touched.
pub const FOREIGN: &str = "remote_username_foreign";

/// Code of a desired state with a squad that the panel does not have: another try fails, too, until an operator names others.
pub const UNKNOWN_SQUAD: &str = "remote_squad_unknown";

/// What the panel says when it cannot create or update a user, for whatever reason.
const REFUSED_WHOLE: [&str; 2] = ["A018", "A039"];

const NOT_FOUND: &str = "remote_user_not_found";
const NAME_TAKEN: &str = "remote_username_taken";

/// The subscription's user, as a look at the panel found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// `None` when the panel has none.
    pub user: Option<RemoteUser>,
    /// It is shut although it must be open.
    pub reopen: bool,
}

/// The subscription's user; `None` when the panel has none. Changes nothing.
///
/// # Errors
/// [`SendError::Foreign`] for a user that is somebody else's, and whatever became of the request.
pub async fn find(
    sender: &mut Sender,
    panel: &dyn PanelWriter,
    claimed: &Claimed,
    now: Timestamp,
) -> Result<Option<RemoteUser>, SendError> {
    Pushing::new(sender, panel, claimed, now).find().await
}

/// Finds the user, pushes what was claimed and answers what the panel shows then.
///
/// # Errors
/// [`SendError`]; the sender knows whether anything was sent, and whether an answer is missing.
pub async fn push(
    sender: &mut Sender,
    panel: &dyn PanelWriter,
    claimed: &Claimed,
    now: Timestamp,
) -> Result<Shown, SendError> {
    let user = find(sender, panel, claimed, now).await?;
    push_found(sender, panel, claimed, Found { user, reopen: false }, now).await
}

/// As [`push`], to a user that was found already.
///
/// # Errors
/// As [`push`].
pub async fn push_found(
    sender: &mut Sender,
    panel: &dyn PanelWriter,
    claimed: &Claimed,
    found: Found,
    now: Timestamp,
) -> Result<Shown, SendError> {
    let mut run = Pushing::new(sender, panel, claimed, now);
    run.wanted.activate |= found.reopen && !run.over && !run.wanted.shut;
    let (user, created) = run.converge(found.user).await?;
    run.finish(user, created).await
}

struct Pushing<'a> {
    sender: &'a mut Sender,
    panel: &'a dyn PanelWriter,
    claimed: &'a Claimed,
    username: String,
    description: String,
    wanted: Push,
    /// The right has ended: the panel refuses an expiry in the past, so access is shut instead.
    over: bool,
    /// Used traffic starts anew, as was asked for then.
    traffic_since: Option<Timestamp>,
}

impl<'a> Pushing<'a> {
    fn new(sender: &'a mut Sender, panel: &'a dyn PanelWriter, claimed: &'a Claimed, now: Timestamp) -> Self {
        let desired = &claimed.desired;
        let over = desired.expire_at <= now;
        let shut = desired.access != Access::Open;
        // What was paid for, and an operator's own word, open a user that was shut by hand at the panel. A
        // comparison does so where it found the user shut ([`push_found`]). Everything else leaves it alone.
        let opens = match claimed.kind {
            OperationKind::Create | OperationKind::Enable => true,
            OperationKind::Extend => claimed.order_id.is_some(),
            _ => false,
        };
        let asked = Some(claimed.opened_at).filter(|_| claimed.kind == OperationKind::ResetTraffic);
        Self {
            username: remote_username(claimed.subscription_id),
            description: remote_description(claimed.subscription_id),
            wanted: Push {
                expire_at: desired.expire_at,
                limits: desired.limits.clone(),
                activate: !over && !shut && (opens || desired.opens),
                shut,
            },
            traffic_since: asked.max(desired.reset_traffic.filter(|_| !over)),
            sender,
            panel,
            claimed,
            over,
        }
    }

    /// The user as the panel shows it, and whether it was created just now.
    async fn converge(&mut self, found: Option<RemoteUser>) -> Result<(RemoteUser, bool), SendError> {
        let Some(user) = found else {
            return self.create().await;
        };
        match self.adopt(user).await {
            // It vanished in between.
            Err(SendError::Panel(error)) if error.code == NOT_FOUND => match self.named().await? {
                Some(user) => self.adopt(user).await,
                None => self.create().await,
            },
            adopted => adopted,
        }
    }

    /// By its number where that is known, else by its name. It is read before it is written: a panel restored from an old copy may have
    /// given the number to somebody else, whose access must not be touched.
    async fn find(&mut self) -> Result<Option<RemoteUser>, SendError> {
        if let Some(id) = self.claimed.remote_user_id {
            let (sender, panel) = (&mut *self.sender, self.panel);
            match sender.read(panel.user(id)).await? {
                Some(user) if user.username != self.username => return Err(SendError::Foreign),
                Some(user) => return Ok(Some(user)),
                None => {}
            }
        }
        self.named().await
    }

    async fn update(&mut self, id: i64) -> Result<RemoteUser, SendError> {
        match self.sender.write(self.panel.update_user(id, &self.wanted)).await {
            Err(error) => Err(self.explained(error).await),
            updated => updated,
        }
    }

    /// A squad that is gone makes the panel refuse the whole user, in the words of a passing fault. So it is looked for.
    async fn explained(&mut self, error: SendError) -> SendError {
        let SendError::Panel(refused) = &error else {
            return error;
        };
        let suspicious = refused
            .panel_code
            .as_deref()
            .is_some_and(|code| REFUSED_WHOLE.contains(&code));
        if !suspicious || self.wanted.limits.squads.is_empty() {
            return error;
        }
        match self.sender.read(self.panel.squad_ids()).await {
            Ok(known) if self.wanted.limits.squads.iter().any(|squad| !known.contains(squad)) => {
                SendError::Panel(PanelError {
                    kind: FailureKind::Permanent,
                    code: UNKNOWN_SQUAD.to_owned(),
                    ..refused.clone()
                })
            }
            _ => error,
        }
    }

    /// Before anything else: a later end or a larger limit would open a user that had come to its end or used up its traffic.
    async fn shut_first(&mut self, user: &RemoteUser) -> Result<(), SendError> {
        if self.wanted.shut && user.status != RemoteStatus::Disabled {
            self.sender.write(self.panel.disable_user(user.id)).await?;
        }
        Ok(())
    }

    async fn named(&mut self) -> Result<Option<RemoteUser>, SendError> {
        let found = self.sender.read(self.panel.user_by_username(&self.username)).await?;
        match found {
            Some(user) if user.description.as_deref() != Some(self.description.as_str()) => Err(SendError::Foreign),
            found => Ok(found),
        }
    }

    async fn adopt(&mut self, user: RemoteUser) -> Result<(RemoteUser, bool), SendError> {
        if self.over {
            return Ok((user, false));
        }
        self.shut_first(&user).await?;
        Ok((self.update(user.id).await?, false))
    }

    /// A name that is taken after all was taken by an earlier try of ours, whose answer was lost, or by somebody else.
    async fn create(&mut self) -> Result<(RemoteUser, bool), SendError> {
        let call = self.panel.create_user(&self.username, &self.description, &self.wanted);
        match self.sender.write(call).await {
            Ok(user) => Ok((user, true)),
            Err(SendError::Panel(error)) if error.code == NAME_TAKEN => match self.named().await? {
                Some(user) => self.adopt(user).await,
                None => Err(SendError::Panel(error)),
            },
            Err(error) => Err(self.explained(error).await),
        }
    }

    async fn finish(&mut self, user: RemoteUser, created: bool) -> Result<Shown, SendError> {
        let (id, mut status) = (user.id, user.status);
        if !created && self.must_reset(&user) {
            status = self.sender.write(self.panel.reset_traffic(id)).await?.status;
        }
        if self.over || self.wanted.shut {
            let is_shut = status == RemoteStatus::Disabled || (self.over && status == RemoteStatus::Expired);
            if !is_shut {
                self.sender.write(self.panel.disable_user(id)).await?;
                status = RemoteStatus::Disabled;
            }
        } else if self.wanted.activate && status == RemoteStatus::Disabled {
            self.sender.write(self.panel.enable_user(id)).await?;
            status = RemoteStatus::Active;
        }
        Ok(Shown {
            remote_user_id: id,
            remote_status: status,
        })
    }

    /// Looks before it repeats: where the answer of an earlier run may have been lost, a reset that the panel dates after the wish for one
    /// has been carried out. The panel keeps milliseconds.
    fn must_reset(&self, user: &RemoteUser) -> bool {
        let Some(since) = self.traffic_since else {
            return false;
        };
        let done = user.traffic_reset_at.is_some_and(|at| at >= since.trunc_subsecs(3));
        !(self.claimed.unanswered && done)
    }
}
