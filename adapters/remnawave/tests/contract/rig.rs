//! A sandbox of its own for each test.

use std::{path::Path, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use domain::{plan::Limits, time::Timestamp};
use ports::{clock::ManualClock, panel::Push};
use remnawave::{Config, Remnawave};
use sandbox::{RunningSandbox, SandboxOptions, control::Client, journal::PanelReport};
use std::sync::Arc;
use tempfile::TempDir;
use uuid::Uuid;

pub(crate) struct Rig {
    dir: TempDir,
    pub(crate) sandbox: RunningSandbox,
    pub(crate) panel: Remnawave,
    pub(crate) control: Client,
    pub(crate) clock: ManualClock,
}

pub(crate) const GIB: i64 = 1 << 30;

pub(crate) fn start_time() -> Timestamp {
    DateTime::<Utc>::from_timestamp(1_800_000_000, 123_456_000).unwrap()
}

impl Rig {
    pub(crate) async fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), ManualClock::at(start_time())).await
    }

    async fn start_in(dir: TempDir, clock: ManualClock) -> Self {
        let options = SandboxOptions {
            clock: Arc::new(clock.clone()),
            ..SandboxOptions::new(dir.path())
        };
        let sandbox = sandbox::start(options).await.unwrap();
        let panel = Remnawave::new(&config(&sandbox, Duration::from_millis(1500))).unwrap();
        let control = Client::new(sandbox.addresses()).unwrap();
        Self {
            dir,
            sandbox,
            panel,
            control,
            clock,
        }
    }

    /// Stops, then starts anew on the same files.
    pub(crate) async fn restart(self) -> Self {
        self.sandbox.stop().await;
        Self::start_in(self.dir, self.clock).await
    }

    /// Ends it as a killed process would: no waiting, no closing.
    pub(crate) async fn crash(self) -> Self {
        let Self {
            dir, sandbox, clock, ..
        } = self;
        drop(sandbox);
        // The lock of the dropped sandbox is free at once; its port may not be.
        Self::start_in(dir, clock).await
    }

    pub(crate) fn data_dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn report(&self) -> PanelReport {
        sandbox::journal::panel_report(self.dir.path()).unwrap()
    }

    pub(crate) fn now(&self) -> Timestamp {
        ports::clock::Clock::now(&self.clock)
    }

    /// What a 30-day plan pushes.
    pub(crate) fn push(&self) -> Push {
        Push {
            expire_at: self.now() + TimeDelta::days(30),
            limits: Limits {
                traffic_bytes: Some(50 * GIB),
                devices: Some(3),
                squads: vec![squad(0)],
            },
            activate: false,
            shut: false,
        }
    }

    pub(crate) fn client_with(&self, change: impl FnOnce(&mut Config)) -> Remnawave {
        let mut config = config(&self.sandbox, Duration::from_millis(1500));
        change(&mut config);
        Remnawave::new(&config).unwrap()
    }
}

fn config(sandbox: &RunningSandbox, timeout: Duration) -> Config {
    let panel = &sandbox.addresses().panel;
    Config {
        timeout,
        ..Config::new(panel.url.as_str(), panel.token.as_str())
    }
}

pub(crate) fn squad(index: usize) -> Uuid {
    sandbox::DEFAULT_SQUADS[index].0
}
