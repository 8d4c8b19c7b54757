//! The window of maintenance: by hand, by many at once, and what it stops.

use std::time::Duration;

use chrono::TimeDelta;
use ports::payments::Status;
use service::{Error, Refusal, Service, SetMaintenance};
use store::Store;

use crate::world::{World, caller, refusal};

pub(crate) fn opened() -> SetMaintenance {
    SetMaintenance {
        active: true,
        operator_id: "anna".to_owned(),
        reason: "new disks".to_owned(),
        notice_ru: "скоро вернёмся".to_owned(),
        notice_en: "back soon".to_owned(),
        expected_return_at: None,
    }
}

pub(crate) fn closed() -> SetMaintenance {
    SetMaintenance {
        active: false,
        reason: "done".to_owned(),
        notice_ru: String::new(),
        notice_en: String::new(),
        ..opened()
    }
}

/// A process of its own: same database, other memory.
fn other_process(world: &World) -> Service {
    Service::builder(Store::new(world.pool.clone()))
        .clock(world.service.clock().clone())
        .catalog(world.catalog.clone())
        .build()
}

pub(crate) async fn flips(world: &World) -> Vec<(String, String, Option<String>)> {
    sqlx::query_as("select action, source, actor_id from maintenance_events order by id")
        .fetch_all(&world.pool)
        .await
        .unwrap()
}

pub(crate) fn flip(action: &str, source: &str, actor: Option<&str>) -> (String, String, Option<String>) {
    (action.to_owned(), source.to_owned(), actor.map(str::to_owned))
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one window from its opening to its end")]
async fn a_window_is_opened_changed_and_closed_by_hand() {
    let world = World::new().await;
    let never = world.service.maintenance().await.unwrap();
    assert!(!never.active && never.activated_at.is_none() && never.updated_at.is_none());
    world.service.set_maintenance(&caller(), &closed()).await.unwrap();
    assert_eq!(
        world.count("select count(*) from maintenance_state").await,
        0,
        "nothing to close"
    );

    let first = world.service.set_maintenance(&caller(), &opened()).await.unwrap();
    let began = Some(world.now());
    assert_eq!(
        (first.active, first.source, first.activated_at),
        (true, "manual", began)
    );
    assert_eq!(
        (first.notice_ru.as_str(), first.notice_en.as_str()),
        ("скоро вернёмся", "back soon")
    );

    world.clock.advance(TimeDelta::seconds(90));
    assert_eq!(
        world.service.set_maintenance(&caller(), &opened()).await.unwrap(),
        first,
        "the same again changes nothing"
    );
    let longer = SetMaintenance {
        reason: "more disks".to_owned(),
        expected_return_at: Some(world.now() + TimeDelta::hours(1)),
        ..opened()
    };
    let changed = world.service.set_maintenance(&caller(), &longer).await.unwrap();
    assert_eq!(changed.activated_at, began, "an open window keeps its beginning");
    assert_eq!(changed.expected_return_at, longer.expected_return_at);
    assert_eq!(flips(&world).await, [flip("activated", "manual", Some("anna"))]);

    let ended = world.service.set_maintenance(&caller(), &closed()).await.unwrap();
    assert_eq!((ended.active, ended.cleared_at), (false, Some(world.now())));
    assert_eq!((ended.notice_en.as_str(), ended.expected_return_at), ("", None));
    world.service.set_maintenance(&caller(), &closed()).await.unwrap();

    world.clock.advance(TimeDelta::seconds(90));
    let again = world.service.set_maintenance(&caller(), &opened()).await.unwrap();
    assert_eq!(again.activated_at, Some(world.now()), "another window begins anew");
    let history = world.service.maintenance_history(2).await.unwrap();
    let actions: Vec<_> = history
        .iter()
        .map(|flip| (flip.action.as_str(), flip.reason.as_str()))
        .collect();
    assert_eq!(actions, [("activated", "new disks"), ("cleared", "done")]);
    let audited: Vec<(String, String, String)> =
        sqlx::query_as("select action, reason, metadata ->> 'operatorId' from audit_events order by id")
            .fetch_all(&world.pool)
            .await
            .unwrap();
    let expected = [
        ("activated", "new disks"),
        ("changed", "more disks"),
        ("cleared", "done"),
        ("activated", "new disks"),
    ];
    let expected = expected.map(|(action, reason)| {
        (
            format!("panel.maintenance.{action}"),
            reason.to_owned(),
            "anna".to_owned(),
        )
    });
    assert_eq!(
        audited, expected,
        "every change by hand, and nothing where nothing changed"
    );
}

#[tokio::test]
async fn a_real_flip_is_told_once_as_an_incident() {
    let world = World::new().await;
    world.service.set_maintenance(&caller(), &opened()).await.unwrap();
    world.service.set_maintenance(&caller(), &closed()).await.unwrap();
    world.service.set_maintenance(&caller(), &opened()).await.unwrap();
    let told: Vec<(String, String, String)> =
        sqlx::query_as("select kind, dedupe_key, payload::text from operator_notices order by dedupe_key")
            .fetch_all(&world.pool)
            .await
            .unwrap();
    let minute = world.now().timestamp() / 60;
    assert_eq!(told.len(), 2, "of one minute, one notice each: {told:?}");
    assert_eq!(told[0].0, "incident");
    assert_eq!(told[0].1, format!("maintenance:activated:{minute}"));
    assert_eq!(told[1].1, format!("maintenance:cleared:{minute}"));
    assert!(
        told[0].2.contains("new disks") && !told[0].2.contains("back soon"),
        "{told:?}"
    );
    assert_eq!(flips(&world).await.len(), 3);
}

#[tokio::test]
async fn what_is_said_has_limits() {
    let world = World::new().await;
    for bad in [
        SetMaintenance {
            reason: "x".repeat(201),
            ..opened()
        },
        SetMaintenance {
            notice_ru: "x".repeat(1_001),
            ..opened()
        },
        SetMaintenance {
            reason: "a\u{1b}[2J".to_owned(),
            ..opened()
        },
        SetMaintenance {
            expected_return_at: Some(world.now()),
            ..opened()
        },
    ] {
        let Refusal { code, status, .. } = refusal(world.service.set_maintenance(&caller(), &bad).await);
        assert_eq!((code.as_ref(), status), ("maintenance_rejected", 422));
    }
    assert_eq!(world.count("select count(*) from maintenance_state").await, 0);
    let most = SetMaintenance {
        reason: "я".repeat(200),
        notice_en: "ы".repeat(1_000),
        ..opened()
    };
    assert!(world.service.set_maintenance(&caller(), &most).await.unwrap().active);
}

#[tokio::test]
async fn new_orders_are_refused_and_nothing_else() {
    let world = World::new().await;
    let placed = world.place("before", &world.purchase("month")).await.unwrap();
    let intent = world.start("pay", placed.value.id.into(), "fakepay").await.unwrap();
    world.service.set_maintenance(&caller(), &opened()).await.unwrap();

    for order in [world.purchase("month"), world.purchase("trial"), world.stars("alice_w")] {
        let refused = refusal(world.place("during", &order).await);
        assert_eq!((refused.code.as_ref(), refused.status), ("maintenance_active", 503));
    }
    assert_eq!(
        world.count("select count(*) from idempotency_keys").await,
        2,
        "the refusal is not kept"
    );
    let again = world.place("before", &world.purchase("month")).await.unwrap();
    assert!(
        again.repeated && again.value == placed.value,
        "an order placed before is found"
    );
    assert!(matches!(
        world.place("before", &world.purchase("year")).await,
        Err(Error::KeyReused)
    ));

    // Money on its way settles.
    let reference = intent.provider_reference.unwrap();
    world.pay.set(&reference, Status::Succeeded);
    world.webhook(&reference).await.unwrap();
    assert_eq!(world.state(placed.value.id.into()).await, "paid");
    assert_eq!(world.count("select count(*) from fulfillment_operations").await, 1);

    world.service.set_maintenance(&caller(), &closed()).await.unwrap();
    assert!(!world.place("during", &world.purchase("month")).await.unwrap().repeated);
}

#[tokio::test]
async fn an_order_placed_while_the_window_opens_is_refused_or_lives() {
    let world = World::racing().await;
    let service = other_process(&world);
    let orders: Vec<_> = (0..40).map(|_| world.purchase("month")).collect();
    let placing = async {
        let mut placed = 0;
        for (number, order) in orders.iter().enumerate() {
            match world.place(&format!("n{number}"), order).await {
                Ok(done) => {
                    assert_eq!(done.value.state, "pending");
                    placed += 1;
                }
                Err(Error::Refused(refused)) => assert_eq!(refused.code, "maintenance_active"),
                Err(error) => panic!("{error}"),
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
        placed
    };
    let opening = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        service.set_maintenance(&caller(), &opened()).await.unwrap();
    };
    let (placed, ()) = tokio::join!(placing, opening);
    assert_eq!(world.count("select count(*) from events").await, placed);
    assert_eq!(world.count("select count(*) from idempotency_keys").await, placed);
    assert!(placed < 40, "the other process took notice");
}

#[tokio::test]
async fn many_who_open_and_close_at_once_leave_a_history_that_alternates() {
    let world = World::racing().await;
    let all = (0..24).map(|number| {
        let service = other_process(&world);
        async move {
            let request = if number % 2 == 0 { opened() } else { closed() };
            match service.set_maintenance(&caller(), &request).await {
                Ok(_) | Err(Error::Store(store::StoreError::Conflict)) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
    let mut running = tokio::task::JoinSet::new();
    all.for_each(|one| {
        running.spawn(one);
    });
    while running.join_next().await.transpose().unwrap().is_some() {}
    let history = flips(&world).await;
    for (place, (action, ..)) in history.iter().enumerate() {
        assert_eq!(
            action,
            if place % 2 == 0 { "activated" } else { "cleared" },
            "{history:?}"
        );
    }
    assert_eq!(
        world.service.maintenance().await.unwrap().active,
        history.len() % 2 == 1
    );
}
