//! Making the panel show a desired state. Every push is whole, so repeating it changes nothing.

use domain::{
    entitlement::{OperationKind, RemoteStatus, remote_description, remote_username},
    time::Timestamp,
};
use ports::panel::{PanelWriter, Push, RemoteUser};
use service::fulfillment::{Claimed, Shown};

pub use crate::sender::{SendError, Sender};

/// Code of a remote name that somebody else's user holds. Never adopted, never touched.
pub const FOREIGN: &str = "remote_username_foreign";

const NOT_FOUND: &str = "remote_user_not_found";
const NAME_TAKEN: &str = "remote_username_taken";

/// Pushes what was claimed and answers what the panel shows then.
///
/// # Errors
/// [`SendError`]; the sender knows whether anything was sent, and whether an answer is missing.
pub async fn push(
    sender: &mut Sender,
    panel: &dyn PanelWriter,
    claimed: &Claimed,
    now: Timestamp,
) -> Result<Shown, SendError> {
    let mut run = Pushing::new(sender, panel, claimed, now);
    let (user, created) = run.converge().await?;
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
}

impl<'a> Pushing<'a> {
    fn new(sender: &'a mut Sender, panel: &'a dyn PanelWriter, claimed: &'a Claimed, now: Timestamp) -> Self {
        let desired = &claimed.desired;
        let over = desired.expire_at <= now;
        // What was paid for opens a user that was shut; a mere comparison leaves an operator's own lock alone.
        let brings_news = desired.version > claimed.applied_version;
        let activate = !over && (claimed.kind != OperationKind::Reconcile || brings_news);
        Self {
            username: remote_username(claimed.subscription_id),
            description: remote_description(claimed.subscription_id),
            wanted: Push {
                expire_at: desired.expire_at,
                limits: desired.limits.clone(),
                activate,
            },
            sender,
            panel,
            claimed,
            over,
        }
    }

    /// The user as the panel shows it, and whether it was created just now.
    async fn converge(&mut self) -> Result<(RemoteUser, bool), SendError> {
        if let Some(id) = self.claimed.remote_user_id
            && let Some(user) = self.known(id).await?
        {
            return Ok((user, false));
        }
        match self.find().await? {
            Some(user) => self.adopt(user).await,
            None => self.create().await,
        }
    }

    /// `None` when the panel has no such user any more. It is read before it is written: a panel restored from an old copy may have given
    /// the number to somebody else, whose access must not be touched.
    async fn known(&mut self, id: i64) -> Result<Option<RemoteUser>, SendError> {
        let (sender, panel) = (&mut *self.sender, self.panel);
        let Some(user) = sender.read(panel.user(id)).await? else {
            return Ok(None);
        };
        if user.username != self.username {
            return Err(SendError::Foreign);
        }
        if self.over {
            return Ok(Some(user));
        }
        match self.update(id).await {
            Ok(user) => Ok(Some(user)),
            Err(SendError::Panel(error)) if error.code == NOT_FOUND => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn update(&mut self, id: i64) -> Result<RemoteUser, SendError> {
        self.sender.write(self.panel.update_user(id, &self.wanted)).await
    }

    async fn find(&mut self) -> Result<Option<RemoteUser>, SendError> {
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
        Ok((self.update(user.id).await?, false))
    }

    /// A name that is taken after all was taken by an earlier try of ours, whose answer was lost, or by somebody else.
    async fn create(&mut self) -> Result<(RemoteUser, bool), SendError> {
        let call = self.panel.create_user(&self.username, &self.description, &self.wanted);
        match self.sender.write(call).await {
            Ok(user) => Ok((user, true)),
            Err(SendError::Panel(error)) if error.code == NAME_TAKEN => match self.find().await? {
                Some(user) => self.adopt(user).await,
                None => Err(SendError::Panel(error)),
            },
            Err(error) => Err(error),
        }
    }

    async fn finish(&mut self, user: RemoteUser, created: bool) -> Result<Shown, SendError> {
        let (id, mut status) = (user.id, user.status);
        if self.over {
            if !matches!(status, RemoteStatus::Disabled | RemoteStatus::Expired) {
                self.sender.write(self.panel.disable_user(id)).await?;
                status = RemoteStatus::Disabled;
            }
            return Ok(Shown {
                remote_user_id: id,
                remote_status: status,
            });
        }
        if self.claimed.desired.reset_traffic && !created {
            status = self.sender.write(self.panel.reset_traffic(id)).await?.status;
        }
        if self.wanted.activate && status == RemoteStatus::Disabled {
            self.sender.write(self.panel.enable_user(id)).await?;
            status = RemoteStatus::Active;
        }
        Ok(Shown {
            remote_user_id: id,
            remote_status: status,
        })
    }
}
