//! A person opens, changes or closes the window.

use domain::{
    maintenance::{Announcement, Source},
    time::Timestamp,
};
use store::{StoreError, maintenance::Maintenance};

use super::{
    MaintenanceView,
    change::{Person, Wanted},
};
use crate::{Caller, Error, Refusal, Service};

/// How often a change that met another one is decided anew.
const TRIES: u32 = 5;

/// How the window is to be. What is left empty is emptied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetMaintenance {
    /// Open or shut.
    pub active: bool,
    /// Who decides.
    pub operator_id: String,
    /// For operators.
    pub reason: String,
    /// For customers, in Russian.
    pub notice_ru: String,
    /// For customers, in English.
    pub notice_en: String,
    /// When the shop is expected to open again; only of an open window.
    pub expected_return_at: Option<Timestamp>,
}

impl Service {
    /// Opens, changes or closes the window. The person takes over a window that the probes opened: from then on only a person closes it.
    /// Asking for what is so already changes nothing.
    ///
    /// # Errors
    /// [`Error::Refused`] (`maintenance_rejected`), or a fault of the store.
    pub async fn set_maintenance(&self, caller: &Caller, request: &SetMaintenance) -> Result<MaintenanceView, Error> {
        let at = self.clock.now();
        let caller = caller.clone().because(request.reason.trim());
        let expected = request.expected_return_at.filter(|_| request.active);
        let announcement = Announcement::new(&request.reason, &request.notice_ru, &request.notice_en, expected, at)
            .map_err(|rejected| Refusal::named(422, "maintenance_rejected", &rejected))?;
        for _ in 0..TRIES {
            let read = store::maintenance::read(self.store.pool()).await?;
            if is_so(&read, request.active, &announcement) {
                return Ok(read.into());
            }
            let wanted = Wanted {
                active: request.active,
                source: Source::Manual,
                announcement: &announcement,
                by: Some(Person {
                    operator_id: &request.operator_id,
                    caller: &caller,
                }),
                at,
            };
            match self.change_window(&read, &wanted).await {
                // Read again: the answer is what is stored, and somebody else may have been faster.
                Ok(_) | Err(Error::Store(StoreError::CommitUnknown(_) | StoreError::Conflict)) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Store(StoreError::Conflict))
    }
}

/// A window that is shut has nothing to say; an open one is a person's and says the same.
fn is_so(read: &Maintenance, active: bool, said: &Announcement) -> bool {
    if !active {
        return !read.window.active;
    }
    read.window.active
        && read.window.source == Source::Manual
        && read.reason == said.reason()
        && read.notice_ru == said.notice_ru()
        && read.notice_en == said.notice_en()
        && read.expected_return_at == said.expected_return_at()
}
