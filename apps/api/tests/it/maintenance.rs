//! The window of maintenance over HTTP.

use axum::body::Body;
use serde_json::{Value, json};

use crate::world::{Answer, MONTH, World, operator, purchase};

pub(crate) async fn put(world: &World, body: &Value) -> Answer {
    let request = operator("PUT", "/v1/admin/maintenance");
    world.send(request.body(Body::from(body.to_string())).unwrap()).await
}

#[tokio::test]
async fn the_window_is_read_opened_and_closed() {
    let world = World::new().await;
    let never = world.get("/v1/admin/maintenance").await;
    assert_eq!(
        never.json(),
        json!({ "active": false, "source": "manual", "reason": "", "noticeRu": "", "noticeEn": "" })
    );
    let until = "2026-03-01T14:00:00Z";
    let body = json!({
        "active": true, "operatorId": "anna", "reason": "new disks",
        "noticeRu": "скоро", "noticeEn": "soon", "expectedReturnAt": until
    });
    let opened = put(&world, &body).await;
    let expected = json!({
        "active": true, "source": "manual", "reason": "new disks", "noticeRu": "скоро", "noticeEn": "soon",
        "activatedAt": "2026-03-01T12:00:00Z", "expectedReturnAt": until, "updatedAt": "2026-03-01T12:00:00Z"
    });
    assert_eq!((opened.status.as_u16(), opened.json()), (200, expected.clone()));
    assert_eq!(world.get("/v1/admin/maintenance").await.json(), expected);
    assert_eq!(put(&world, &body).await.json(), expected, "the same again");

    let closed = put(&world, &json!({ "active": false, "operatorId": "boris" }))
        .await
        .json();
    assert_eq!(closed["active"], false);
    assert_eq!(closed["clearedAt"], "2026-03-01T12:00:00Z");
    assert!(closed.get("expectedReturnAt").is_none());
    let actors: Vec<(String, String)> = sqlx::query_as("select action, actor_id from maintenance_events order by id")
        .fetch_all(&world.pool)
        .await
        .unwrap();
    assert_eq!(
        actors,
        [("activated", "anna"), ("cleared", "boris")].map(|(action, who)| (action.to_owned(), who.to_owned()))
    );
}

#[tokio::test]
async fn a_closed_shop_says_so_and_when_to_come_back() {
    let world = World::new().await;
    put(&world, &json!({ "active": true, "operatorId": "anna" })).await;
    let refused = world.post("/v1/admin/orders", "0001", &purchase(MONTH)).await;
    assert_eq!(
        (refused.status.as_u16(), refused.code().as_str()),
        (503, "maintenance_active")
    );
    assert_eq!(refused.headers["retry-after"], "60");
    put(&world, &json!({ "active": false, "operatorId": "anna" })).await;
    let placed = world.post("/v1/admin/orders", "0001", &purchase(MONTH)).await;
    assert_eq!(placed.status, 201, "the refusal was not kept under the key");
}

#[tokio::test]
async fn what_cannot_be_a_window_is_refused() {
    let world = World::new().await;
    for (body, status, code) in [
        (json!({ "active": true }), 400, "missing_operator"),
        (json!({ "active": true, "operatorId": "  " }), 400, "missing_operator"),
        (
            json!({ "active": true, "operatorId": "anna\u{1b}" }),
            400,
            "missing_operator",
        ),
        (json!({ "operatorId": "anna" }), 400, "invalid_request"),
        (
            json!({ "active": true, "operatorId": "anna", "source": "database" }),
            400,
            "invalid_request",
        ),
        (
            json!({ "active": true, "operatorId": "anna", "expectedReturnAt": "tomorrow" }),
            400,
            "invalid_request",
        ),
        (
            json!({ "active": true, "operatorId": "anna", "expectedReturnAt": "2026-03-01T11:00:00Z" }),
            422,
            "maintenance_rejected",
        ),
        (
            json!({ "active": true, "operatorId": "anna", "reason": "x".repeat(201) }),
            422,
            "maintenance_rejected",
        ),
        (
            json!({ "active": true, "operatorId": "anna", "noticeEn": "x".repeat(1001) }),
            422,
            "maintenance_rejected",
        ),
    ] {
        let answer = put(&world, &body).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (status, code),
            "{body}"
        );
    }
    assert_eq!(world.count("select count(*) from maintenance_state").await, 0);
}

#[tokio::test]
async fn a_table_that_cannot_be_read_is_a_fault_with_its_own_code() {
    let world = World::new().await;
    world.pool.close().await;
    for answer in [
        world.get("/v1/admin/maintenance").await,
        put(&world, &json!({ "active": true, "operatorId": "anna" })).await,
    ] {
        assert_eq!(
            (answer.status.as_u16(), answer.code().as_str()),
            (500, "maintenance_unavailable")
        );
    }
}
