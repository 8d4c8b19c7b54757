//! A panel in memory that does what it is told, and notes what it was asked.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Mutex,
    time::Duration,
};

use async_trait::async_trait;
use domain::{entitlement::RemoteStatus, time::Timestamp};
use ports::panel::{FailureKind, PanelError, PanelReader, PanelWriter, Push, RemoteUser};
use tokio_util::sync::CancellationToken;

/// What happens to the next request that changes something.
#[derive(Clone, Debug)]
pub(crate) enum Script {
    /// Refused.
    Fail(PanelError),
    /// Done, and the answer lost.
    DoneUnanswered,
    /// Done after a while.
    Slow(Duration),
    /// Taken in now, done after a while, and never answered.
    LateUnanswered(Duration),
    /// A bug.
    Panic,
}

#[derive(Debug, Default)]
struct Inside {
    users: BTreeMap<i64, RemoteUser>,
    last_id: i64,
    script: VecDeque<Script>,
    always: Option<PanelError>,
    writes: Vec<String>,
    resets: u32,
    now: Timestamp,
    /// The squads it has; any, where nobody said.
    squads: Option<Vec<uuid::Uuid>>,
    stop: Option<(u32, CancellationToken)>,
    /// Requests that were sent, given up and have not landed yet.
    on_their_way: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FakePanel(std::sync::Arc<Mutex<Inside>>);

pub(crate) fn error(kind: FailureKind, code: &str) -> PanelError {
    PanelError {
        kind,
        code: code.to_owned(),
        http_status: None,
        panel_code: None,
    }
}

impl FakePanel {
    pub(crate) fn then(&self, script: Script) {
        self.0.lock().unwrap().script.push_back(script);
    }

    pub(crate) fn forget_script(&self) {
        self.0.lock().unwrap().script.clear();
    }

    /// Every request that changes something fails from now on; `None` heals it.
    pub(crate) fn always(&self, failure: Option<PanelError>) {
        self.0.lock().unwrap().always = failure;
    }

    pub(crate) fn users(&self) -> Vec<RemoteUser> {
        self.0.lock().unwrap().users.values().cloned().collect()
    }

    /// Requests that changed something, or tried to.
    pub(crate) fn writes(&self) -> Vec<String> {
        self.0.lock().unwrap().writes.clone()
    }

    pub(crate) fn resets(&self) -> u32 {
        self.0.lock().unwrap().resets
    }

    pub(crate) fn put(
        &self,
        username: &str,
        description: Option<&str>,
        status: RemoteStatus,
        expire_at: Timestamp,
    ) -> i64 {
        let mut inside = self.0.lock().unwrap();
        inside.last_id += 1;
        let id = inside.last_id;
        inside.users.insert(
            id,
            RemoteUser {
                id,
                username: username.to_owned(),
                status,
                expire_at,
                traffic_limit_bytes: 0,
                used_traffic_bytes: 7,
                device_limit: None,
                squads: Vec::new(),
                description: description.map(str::to_owned),
                traffic_reset_at: None,
            },
        );
        id
    }

    /// Gives a number to somebody else, as a panel restored from an old copy would.
    pub(crate) fn give_away(&self, id: i64, username: &str) {
        if let Some(user) = self.0.lock().unwrap().users.get_mut(&id) {
            username.clone_into(&mut user.username);
        }
    }

    /// Whoever calls is told to stop once so many more requests were answered.
    pub(crate) fn stop_after(&self, answers: u32, stop: CancellationToken) {
        self.0.lock().unwrap().stop = Some((answers, stop));
    }

    /// From now on it has these squads only, and refuses a user with another one as the real panel does.
    pub(crate) fn has_squads(&self, squads: &[uuid::Uuid]) {
        self.0.lock().unwrap().squads = Some(squads.to_vec());
    }

    /// What a user used, and that it used up all it had.
    pub(crate) fn use_up(&self, id: i64) {
        if let Some(user) = self.0.lock().unwrap().users.get_mut(&id) {
            user.used_traffic_bytes = user.traffic_limit_bytes;
            user.status = RemoteStatus::Limited;
        }
    }

    /// The panel's own clock.
    pub(crate) fn set_clock(&self, now: Timestamp) {
        self.0.lock().unwrap().now = now;
    }

    /// What somebody does at the panel by hand.
    pub(crate) fn set_status(&self, id: i64, status: RemoteStatus) {
        if let Some(user) = self.0.lock().unwrap().users.get_mut(&id) {
            user.status = status;
        }
    }

    /// Somebody's hand at the panel.
    pub(crate) fn edit(&self, id: i64, edit: impl FnOnce(&mut RemoteUser)) {
        if let Some(user) = self.0.lock().unwrap().users.get_mut(&id) {
            edit(user);
        }
    }

    /// Every request that was sent has landed.
    pub(crate) fn nothing_is_on_its_way(&self) -> bool {
        self.0.lock().unwrap().on_their_way == 0
    }

    pub(crate) fn remove(&self, id: i64) {
        self.0.lock().unwrap().users.remove(&id);
    }

    async fn change<T>(
        &self,
        name: String,
        change: impl FnOnce(&mut Inside) -> Result<T, PanelError> + Send + 'static,
    ) -> Result<T, PanelError>
    where
        T: Send + 'static,
    {
        let (script, always) = {
            let mut inside = self.0.lock().unwrap();
            inside.writes.push(name);
            (inside.script.pop_front(), inside.always.clone())
        };
        let lost = || Err(error(FailureKind::Unanswered, "remnawave_timeout"));
        match (script, always) {
            (Some(Script::Fail(error)), _) | (None, Some(error)) => Err(error),
            (Some(Script::DoneUnanswered), _) => {
                change(&mut self.0.lock().unwrap())?;
                lost()
            }
            (Some(Script::Slow(span)), _) => {
                tokio::time::sleep(span).await;
                change(&mut self.0.lock().unwrap())
            }
            (Some(Script::LateUnanswered(span)), _) => {
                let panel = self.clone();
                panel.0.lock().unwrap().on_their_way += 1;
                tokio::spawn(async move {
                    tokio::time::sleep(span).await;
                    let mut inside = panel.0.lock().unwrap();
                    inside.on_their_way -= 1;
                    let _ = change(&mut inside);
                });
                lost()
            }
            (Some(Script::Panic), _) => panic!("a bug of the client"),
            (None, None) => {
                let mut inside = self.0.lock().unwrap();
                let answer = change(&mut inside);
                if let Some((answers, stop)) = inside.stop.take() {
                    match answers.checked_sub(1) {
                        Some(0) | None => stop.cancel(),
                        Some(left) => inside.stop = Some((left, stop)),
                    }
                }
                answer
            }
        }
    }
}

fn missing() -> PanelError {
    error(FailureKind::Transient, "remote_user_not_found")
}

fn known(inside: &Inside, push: &Push, code: &str) -> Result<(), PanelError> {
    let has = |squad| inside.squads.as_ref().is_none_or(|squads| squads.contains(squad));
    if push.limits.squads.iter().all(has) {
        return Ok(());
    }
    Err(PanelError {
        http_status: Some(500),
        panel_code: Some(code.to_owned()),
        ..error(FailureKind::Transient, "remnawave_http_500")
    })
}

fn apply(user: &mut RemoteUser, push: &Push) {
    user.expire_at = push.expire_at;
    user.traffic_limit_bytes = push.limits.traffic_bytes.unwrap_or(0);
    user.device_limit = push.limits.devices.map(i64::from);
    user.squads.clone_from(&push.limits.squads);
    if push.activate {
        user.status = RemoteStatus::Active;
    }
}

#[async_trait]
impl PanelReader for FakePanel {
    async fn version(&self) -> Result<String, PanelError> {
        Ok("3.3.0".to_owned())
    }

    async fn user(&self, id: i64) -> Result<Option<RemoteUser>, PanelError> {
        Ok(self.0.lock().unwrap().users.get(&id).cloned())
    }

    async fn user_by_username(&self, username: &str) -> Result<Option<RemoteUser>, PanelError> {
        Ok(self.users().into_iter().find(|user| user.username == username))
    }

    async fn squad_ids(&self) -> Result<Vec<uuid::Uuid>, PanelError> {
        Ok(self.0.lock().unwrap().squads.clone().unwrap_or_default())
    }
}

#[async_trait]
impl PanelWriter for FakePanel {
    async fn create_user(&self, username: &str, description: &str, push: &Push) -> Result<RemoteUser, PanelError> {
        let (username, description, push) = (username.to_owned(), description.to_owned(), push.clone());
        self.change(format!("create {username}"), move |inside| {
            if inside.users.values().any(|user| user.username == username) {
                return Err(error(FailureKind::Transient, "remote_username_taken"));
            }
            known(inside, &push, "A018")?;
            inside.last_id += 1;
            let mut user = RemoteUser {
                id: inside.last_id,
                username,
                status: RemoteStatus::Active,
                expire_at: push.expire_at,
                traffic_limit_bytes: 0,
                used_traffic_bytes: 0,
                device_limit: None,
                squads: Vec::new(),
                description: Some(description),
                traffic_reset_at: None,
            };
            apply(&mut user, &push);
            if push.shut {
                user.status = RemoteStatus::Disabled;
            }
            inside.users.insert(user.id, user.clone());
            Ok(user)
        })
        .await
    }

    async fn update_user(&self, id: i64, push: &Push) -> Result<RemoteUser, PanelError> {
        let push = push.clone();
        self.change(format!("update {id} until {}", push.expire_at), move |inside| {
            known(inside, &push, "A039")?;
            let user = inside.users.get_mut(&id).ok_or_else(missing)?;
            apply(user, &push);
            Ok(user.clone())
        })
        .await
    }

    async fn reset_traffic(&self, id: i64) -> Result<RemoteUser, PanelError> {
        self.change(format!("reset {id}"), move |inside| {
            inside.resets += 1;
            let now = inside.now;
            let user = inside.users.get_mut(&id).ok_or_else(missing)?;
            user.used_traffic_bytes = 0;
            user.traffic_reset_at = Some(now);
            if user.status == RemoteStatus::Limited {
                user.status = RemoteStatus::Active;
            }
            Ok(user.clone())
        })
        .await
    }

    async fn enable_user(&self, id: i64) -> Result<(), PanelError> {
        self.change(format!("enable {id}"), move |inside| {
            inside.users.get_mut(&id).ok_or_else(missing)?.status = RemoteStatus::Active;
            Ok(())
        })
        .await
    }

    async fn disable_user(&self, id: i64) -> Result<(), PanelError> {
        self.change(format!("disable {id}"), move |inside| {
            inside.users.get_mut(&id).ok_or_else(missing)?.status = RemoteStatus::Disabled;
            Ok(())
        })
        .await
    }
}
