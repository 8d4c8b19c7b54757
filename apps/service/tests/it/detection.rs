//! Windows that open and close by themselves.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use domain::maintenance::{Source, Streaks, Transition};
use ports::panel::{FailureKind, PanelError, PanelReader, RemoteUser};
use service::{
    Service,
    maintenance::{Detection, Detector, Gate, Known},
};
use store::Store;

use crate::{
    maintenance::{closed, flip, flips, opened},
    world::{World, caller},
};

const DETECTION: Detection = Detection {
    automatic: true,
    every: Duration::from_secs(30),
    streaks: Streaks {
        failure: 3,
        recovery: 3,
    },
};

/// A panel that says what it is told to, and counts how often it is asked.
#[derive(Clone, Debug, Default)]
struct Panel(Arc<Mutex<(Option<FailureKind>, u32)>>);

impl Panel {
    fn says(&self, failure: Option<FailureKind>) {
        self.0.lock().unwrap().0 = failure;
    }

    fn asked(&self) -> u32 {
        self.0.lock().unwrap().1
    }
}

#[async_trait]
impl PanelReader for Panel {
    async fn version(&self) -> Result<String, PanelError> {
        let mut state = self.0.lock().unwrap();
        state.1 += 1;
        state.0.map_or(Ok("3.3.0".to_owned()), |kind| {
            Err(PanelError {
                kind,
                code: "remnawave_unavailable".to_owned(),
                http_status: None,
                panel_code: None,
            })
        })
    }

    async fn user(&self, _: i64) -> Result<Option<RemoteUser>, PanelError> {
        Ok(None)
    }

    async fn user_by_username(&self, _: &str) -> Result<Option<RemoteUser>, PanelError> {
        Ok(None)
    }

    async fn squad_ids(&self) -> Result<Vec<uuid::Uuid>, PanelError> {
        Ok(Vec::new())
    }
}

fn watching(world: &World, panel: &Panel, detection: Detection) -> Detector {
    Detector::new(world.service.clone(), Some(Arc::new(panel.clone())), detection)
}

#[tokio::test]
async fn two_replicas_make_one_row_of_history() {
    let world = World::racing().await;
    let panel = Panel::default();
    panel.says(Some(FailureKind::Transient));
    let mut replicas = [watching(&world, &panel, DETECTION), watching(&world, &panel, DETECTION)];
    let [one, two] = &mut replicas;
    for _ in 0..3 {
        tokio::join!(one.sample(), two.sample());
    }
    assert_eq!(flips(&world).await, [flip("activated", "remnawave", None)]);
    let view = world.service.maintenance().await.unwrap();
    assert_eq!(
        (view.source, view.reason.as_str()),
        ("remnawave", "remnawave is unavailable")
    );
    panel.says(None);
    for _ in 0..3 {
        tokio::join!(one.sample(), two.sample());
    }
    assert_eq!(flips(&world).await[1..], [flip("cleared", "remnawave", None)]);
    assert_eq!(
        world.service.maintenance().await.unwrap().reason,
        "dependencies recovered"
    );
    assert_eq!(world.count("select count(*) from operator_notices").await, 2);
}

#[tokio::test]
async fn a_manual_window_outlives_every_recovery() {
    let world = World::new().await;
    let panel = Panel::default();
    let mut detector = watching(&world, &panel, DETECTION);
    world.service.set_maintenance(&caller(), &opened()).await.unwrap();
    for _ in 0..6 {
        assert_eq!(detector.sample().await.transition, None);
    }
    assert!(world.service.maintenance().await.unwrap().active);
}

#[tokio::test]
async fn a_window_of_the_probes_belongs_to_the_person_who_changes_it() {
    let world = World::new().await;
    let panel = Panel::default();
    panel.says(Some(FailureKind::Misconfigured));
    let mut detector = watching(&world, &panel, DETECTION);
    for _ in 0..3 {
        detector.sample().await;
    }
    let taken = world.service.set_maintenance(&caller(), &opened()).await.unwrap();
    assert_eq!((taken.source, taken.activated_at), ("manual", Some(world.now())));
    assert_eq!(flips(&world).await.len(), 1, "it was open before");
    panel.says(None);
    for _ in 0..6 {
        detector.sample().await;
    }
    assert!(world.service.maintenance().await.unwrap().active);
}

#[tokio::test]
async fn a_window_closed_by_hand_while_the_panel_is_down_opens_again() {
    let world = World::new().await;
    let panel = Panel::default();
    panel.says(Some(FailureKind::Transient));
    let mut detector = watching(&world, &panel, DETECTION);
    for _ in 0..5 {
        detector.sample().await;
    }
    world.service.set_maintenance(&caller(), &closed()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(detector.sample().await.transition, None);
    }
    let third = detector.sample().await;
    assert_eq!(
        (third.transition, third.changed),
        (Some(Transition::Open(Source::Remnawave)), true)
    );
    let seen = flips(&world).await;
    assert_eq!(
        seen[1..],
        [
            flip("cleared", "manual", Some("anna")),
            flip("activated", "remnawave", None)
        ]
    );
}

#[tokio::test]
async fn without_detection_samples_are_taken_and_nothing_moves() {
    let world = World::new().await;
    let panel = Panel::default();
    panel.says(Some(FailureKind::Transient));
    let detection = Detection {
        automatic: false,
        ..DETECTION
    };
    let mut detector = watching(&world, &panel, detection);
    for _ in 0..5 {
        let sampled = detector.sample().await;
        assert_eq!((sampled.health.remnawave, sampled.transition), (Some(false), None));
    }
    assert_eq!(panel.asked(), 5);
    assert_eq!(world.count("select count(*) from maintenance_state").await, 0);
    let watched = store::maintenance::watched(&world.pool).await.unwrap().unwrap();
    assert_eq!((watched.automatic, watched.every_seconds), (false, 30));
    assert!(watched.age_seconds < 60);
}

#[tokio::test]
async fn a_panel_that_limits_us_is_up_and_left_alone() {
    let world = World::new().await;
    let panel = Panel::default();
    panel.says(Some(FailureKind::RateLimited {
        retry_after: Some(Duration::from_mins(10)),
    }));
    let mut detector = watching(&world, &panel, DETECTION);
    for _ in 0..6 {
        let sampled = detector.sample().await;
        assert_eq!((sampled.health.remnawave, sampled.transition), (Some(true), None));
    }
    assert_eq!(panel.asked(), 1);
}

#[tokio::test]
async fn without_a_panel_only_the_database_is_watched() {
    let world = World::new().await;
    let mut detector = Detector::new(world.service.clone(), None, DETECTION);
    let sampled = detector.sample().await;
    assert!(sampled.health.database && sampled.health.remnawave.is_none());
}

#[tokio::test]
async fn a_database_that_says_nothing_shuts_no_shop() {
    let world = World::new().await;
    let gone = sqlx::postgres::PgPoolOptions::new()
        .acquire_timeout(Duration::from_millis(200))
        .connect_lazy("postgres://127.0.0.1:9/nowhere")
        .unwrap();
    let gate = Gate::new(Store::new(gone.clone()));
    assert_eq!(gate.look().await, Known::Unknown);
    assert_eq!(Gate::new(Store::new(world.pool.clone())).look().await, Known::Shut);
    let mut detector = Detector::new(
        Service::builder(Store::new(gone)).build(),
        Some(Arc::new(Panel::default())),
        DETECTION,
    );
    for _ in 0..4 {
        let sampled = detector.sample().await;
        assert!(!sampled.health.database && !sampled.changed && sampled.window.is_none());
    }
}
