//! Watching the database and the panel, and opening and closing windows by streaks of samples. Every API process watches by itself; the
//! shared row decides who was first.

use std::{sync::Arc, time::Duration};

use domain::maintenance::{Announcement, Health, RECOVERED, Source, Streaks, Transition, Watch, Window};
use ports::panel::{FailureKind, PanelReader};
use store::maintenance::Maintenance;
use tokio::time::{Instant, timeout};

use super::change::{Wanted, gauge};
use crate::{Error, Service};

/// Patience with one probe, and with reading the window.
const PATIENCE: Duration = Duration::from_secs(3);

/// How dependencies are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detection {
    /// Windows open and close by themselves; without it samples are taken and shown only.
    pub automatic: bool,
    /// Pause between samples.
    pub every: Duration,
    /// Samples in a row.
    pub streaks: Streaks,
}

/// Takes samples.
#[derive(Debug)]
pub struct Detector {
    service: Service,
    panel: Option<Arc<dyn PanelReader>>,
    detection: Detection,
    watch: Watch,
    /// The panel asked to be left alone until then; it answered, so it is up.
    quiet_until: Option<Instant>,
}

/// What a sample came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// What the probes said.
    pub health: Health,
    /// The window as it was read; `None` when it could not be.
    pub window: Option<Window>,
    /// What was to be done, where anything was.
    pub transition: Option<Transition>,
    /// It was done, and by this process.
    pub changed: bool,
}

impl Detector {
    /// Nothing sampled yet. Without a panel only the database is watched.
    pub fn new(service: Service, panel: Option<Arc<dyn PanelReader>>, detection: Detection) -> Self {
        Self {
            service,
            panel,
            detection,
            watch: Watch::new(detection.streaks),
            quiet_until: None,
        }
    }

    /// Pause between samples.
    pub fn every(&self) -> Duration {
        self.detection.every
    }

    /// Takes one sample, shows it, and changes the window when a streak is full. What fails is logged and tried at the next sample.
    pub async fn sample(&mut self) -> Sampled {
        let pool = self.service.store.pool().clone();
        let (database, remnawave) = tokio::join!(
            async { matches!(timeout(PATIENCE, store::health::ping(&pool)).await, Ok(Ok(()))) },
            self.panel_answers(),
        );
        self.quiet_until = remnawave.quiet_until;
        let health = Health {
            database,
            remnawave: remnawave.up,
        };
        show(health);
        let read = self.read().await;
        let window = read.as_ref().map(|read| read.window);
        let (watch, transition) = self.watch.after(health, window);
        self.watch = watch;
        let mut sampled = Sampled {
            health,
            window,
            transition: transition.filter(|_| self.detection.automatic),
            changed: false,
        };
        let Some(read) = read else {
            return sampled;
        };
        gauge(read.window.active);
        if let Some(transition) = sampled.transition {
            sampled.changed = match self.apply(&read, transition).await {
                Ok(changed) => changed,
                Err(error) => {
                    tracing::warn!(code = error.code(), "maintenance mode could not be changed");
                    false
                }
            };
        }
        let noted = store::maintenance::note_sample(&pool, self.detection.automatic, self.detection.every);
        if let Ok(Err(error)) = timeout(PATIENCE, noted).await {
            tracing::debug!(code = error.code(), "a sample was not noted");
        }
        sampled
    }

    async fn apply(&self, read: &Maintenance, transition: Transition) -> Result<bool, Error> {
        let (active, source, reason) = match transition {
            Transition::Open(source) => (true, source, source.outage()),
            Transition::Clear => (false, read.window.source, RECOVERED),
        };
        let wanted = Wanted {
            active,
            source,
            announcement: &Announcement::automatic(reason),
            by: None,
            at: self.service.clock.now(),
        };
        self.service.change_window(read, &wanted).await
    }

    async fn read(&self) -> Option<Maintenance> {
        match timeout(PATIENCE, store::maintenance::read(self.service.store.pool())).await {
            Ok(Ok(read)) => Some(read),
            Ok(Err(error)) => {
                tracing::warn!(code = error.code(), "the state of maintenance could not be read");
                None
            }
            Err(_) => None,
        }
    }

    /// One small read. A panel that limits us answers, and is then left alone for as long as it asked.
    async fn panel_answers(&self) -> Answered {
        let Some(panel) = &self.panel else {
            return Answered {
                up: None,
                quiet_until: None,
            };
        };
        if self.quiet_until.is_some_and(|until| Instant::now() < until) {
            return Answered {
                up: Some(true),
                quiet_until: self.quiet_until,
            };
        }
        let error = match timeout(PATIENCE, panel.version()).await {
            Ok(Ok(_)) => return Answered::up(true),
            Ok(Err(error)) => error,
            Err(_) => {
                tracing::warn!(code = "remnawave_timeout", "the panel does not answer");
                return Answered::up(false);
            }
        };
        if let FailureKind::RateLimited { retry_after } = error.kind {
            return Answered {
                up: Some(true),
                quiet_until: retry_after.map(|pause| Instant::now() + pause),
            };
        }
        tracing::warn!(code = error.code, "the panel does not answer");
        Answered::up(false)
    }
}

struct Answered {
    up: Option<bool>,
    quiet_until: Option<Instant>,
}

impl Answered {
    fn up(up: bool) -> Self {
        Self {
            up: Some(up),
            quiet_until: None,
        }
    }
}

fn show(health: Health) {
    let up = |answers: bool| if answers { 1.0 } else { 0.0 };
    metrics::gauge!("omniflow_dependency_up", "dependency" => "postgres").set(up(health.database));
    if let Some(answers) = health.remnawave {
        metrics::gauge!("omniflow_dependency_up", "dependency" => Source::Remnawave.as_str()).set(up(answers));
    }
}
