//! Operations and the audit trail over HTTP.

use axum::body::Body;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::world::{Answer, TRIAL, World, operator};

async fn opened(world: &World) -> Uuid {
    world.order("free", TRIAL).await;
    sqlx::query_scalar("select operation_id from fulfillment_operations")
        .fetch_one(&world.pool)
        .await
        .unwrap()
}

/// Fails an operation for good, event and row.
async fn fail(world: &World, operation_id: Uuid) {
    let entitlement: Uuid = sqlx::query_scalar("select entitlement_id from fulfillment_operations")
        .fetch_one(&world.pool)
        .await
        .unwrap();
    let stream = store::StreamId::of::<domain::entitlement::Entitlement>(entitlement);
    let at = world.service.clock().now();
    let metadata = service::Caller::new("system:worker", "request-1").metadata(at);
    let mut work = world.service.store().load(&[stream], metadata).await.unwrap();
    let command = domain::entitlement::Command::RecordFailed {
        operation_id: operation_id.into(),
        code: "remnawave_http_500".to_owned(),
        attempts: 12,
        at,
    };
    work.execute::<domain::entitlement::Entitlement>(entitlement, command)
        .unwrap();
    let mut work = work.begin().await.unwrap();
    let end = store::operations::End::Failed {
        code: "remnawave_http_500",
    };
    assert!(store::operations::end_in(work.conn(), operation_id, end).await.unwrap());
    work.commit().await.unwrap();
}

async fn change(world: &World, id: Uuid, action: &str, reason: Option<&[u8]>) -> Answer {
    let mut request = operator("POST", &format!("/v1/admin/operations/{id}/{action}"));
    if let Some(reason) = reason {
        request = request.header("x-operator-reason", reason);
    }
    world.send(request.body(Body::empty()).unwrap()).await
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status.as_u16(), answer.code())
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one walk through the doors, told in one piece")]
async fn b95_a_retry_and_a_cancel_leave_who_did_it_and_why() {
    let world = World::new().await;
    let id = opened(&world).await;
    fail(&world, id).await;
    let list = world
        .get("/v1/admin/operations?status=failed&operation=create")
        .await
        .json();
    let found = &list["items"][0];
    assert_eq!(found["id"], id.to_string());
    assert_eq!(found["lastErrorCode"], "remnawave_http_500");
    assert!(found["completedAt"].is_string() && list.get("nextCursor").is_none());

    for action in ["retry", "cancel"] {
        for reason in [None, Some(&b"  "[..]), Some(&b"\xff"[..])] {
            let answer = change(&world, id, action, reason).await;
            assert_eq!(
                code(&answer),
                (422, "invalid_request".to_owned()),
                "{action} {reason:?}"
            );
        }
    }
    let retried = change(&world, id, "retry", Some("панель снова работает".as_bytes())).await;
    assert_eq!(
        (retried.status.as_u16(), retried.json()["status"].as_str()),
        (200, Some("pending"))
    );
    assert_eq!(
        world
            .count("select count(*) from river_job where state = 'available'")
            .await,
        1
    );
    assert_eq!(
        code(&change(&world, id, "retry", Some(b"again")).await),
        (409, "state_conflict".to_owned())
    );
    let history = world.get(&format!("/v1/admin/operations/{id}/history")).await.json();
    let entry = &history["items"][0];
    assert_eq!(
        (entry["kind"].as_str(), entry["status"].as_str()),
        (Some("operator"), Some("pending"))
    );
    let fields: Vec<_> = entry.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        fields,
        [
            "attempt",
            "correlationId",
            "count",
            "firstAt",
            "kind",
            "occurredAt",
            "status"
        ]
    );

    let cancelled = change(&world, id, "cancel", Some(b"given up")).await;
    assert_eq!(
        (cancelled.status.as_u16(), cancelled.json()["status"].as_str()),
        (200, Some("cancelled"))
    );
    assert_eq!(
        world
            .count("select count(*) from river_job where state = 'available'")
            .await,
        0
    );

    let audit = world.get("/v1/admin/audit?category=system&sort=asc").await.json();
    let told: Vec<_> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["action"].as_str().unwrap(),
                row["reason"].as_str().unwrap(),
                row["actorId"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("panel.fulfillment.retried", "панель снова работает", "bearer"),
            ("panel.fulfillment.cancelled", "given up", "bearer")
        ]
    );
    assert_eq!(
        audit["items"][0]["metadata"],
        json!({ "operation": "create", "attemptCount": 0 })
    );
}

#[tokio::test]
async fn b74_a_succeeded_operation_is_neither_retried_nor_cancelled() {
    let world = World::new().await;
    let id = opened(&world).await;
    let (entitlement, stream): (Uuid, _) = {
        let id: Uuid = sqlx::query_scalar("select entitlement_id from fulfillment_operations")
            .fetch_one(&world.pool)
            .await
            .unwrap();
        (id, store::StreamId::of::<domain::entitlement::Entitlement>(id))
    };
    let at = world.service.clock().now();
    let metadata = service::Caller::new("system:worker", "request-1").metadata(at);
    let mut work = world.service.store().load(&[stream], metadata).await.unwrap();
    let command = domain::entitlement::Command::RecordApplied {
        operation_id: id.into(),
        version: 1,
        remote_user_id: 7,
        remote_status: domain::entitlement::RemoteStatus::Active,
        at,
    };
    work.execute::<domain::entitlement::Entitlement>(entitlement, command)
        .unwrap();
    let mut work = work.begin().await.unwrap();
    let end = store::operations::End::Succeeded { code: None };
    assert!(store::operations::end_in(work.conn(), id, end).await.unwrap());
    work.commit().await.unwrap();
    for action in ["retry", "cancel"] {
        let answer = change(&world, id, action, Some(b"because")).await;
        assert_eq!(code(&answer), (409, "state_conflict".to_owned()), "{action}");
    }
    assert_eq!(
        world.get(&format!("/v1/admin/operations/{id}")).await.json()["status"],
        "succeeded"
    );
    assert_eq!(world.count("select count(*) from audit_events").await, 0);
}

#[tokio::test]
async fn what_is_not_there_or_not_an_id_is_told_apart() {
    let world = World::new().await;
    let nobody = "01960000-0000-7000-8000-00000000dead";
    for path in ["", "/history"] {
        let answer = world.get(&format!("/v1/admin/operations/{nobody}{path}")).await;
        assert_eq!(code(&answer), (404, "operation_not_found".to_owned()));
        let answer = world.get(&format!("/v1/admin/operations/x{path}")).await;
        assert_eq!(code(&answer), (400, "invalid_operation".to_owned()));
    }
    for action in ["retry", "cancel"] {
        let answer = change(&world, nobody.parse().unwrap(), action, Some(b"because")).await;
        assert_eq!(code(&answer), (404, "operation_not_found".to_owned()));
    }
    assert_eq!(
        code(&world.get("/v1/admin/operations?status=x").await),
        (400, "invalid_state".to_owned())
    );
    assert_eq!(
        code(&world.get("/v1/admin/operations?cursor=x").await),
        (400, "invalid_cursor".to_owned())
    );
    assert_eq!(
        code(&world.get("/v1/admin/operations?nothing=x").await),
        (400, "invalid_request".to_owned())
    );
    for query in ["category=x", "outcome=x", "actorType=x", "sort=up", "from=yesterday"] {
        let answer = world.get(&format!("/v1/admin/audit?{query}")).await;
        assert_eq!(code(&answer), (400, "invalid_request".to_owned()), "{query}");
    }
    assert_eq!(
        code(&world.get("/v1/admin/audit?cursor=o1").await),
        (400, "invalid_cursor".to_owned())
    );
}

#[tokio::test]
async fn the_audit_trail_leaves_as_a_file_that_no_spreadsheet_obeys() {
    let world = World::new().await;
    let id = opened(&world).await;
    fail(&world, id).await;
    change(&world, id, "retry", Some(b"=HYPERLINK(\"http://x\")")).await;
    let answer = world
        .get("/v1/admin/audit/export?action=panel.fulfillment.retried")
        .await;
    assert_eq!(answer.headers["content-type"], "text/csv; charset=utf-8");
    let text = String::from_utf8(answer.bytes.to_vec()).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[1].contains("\"'=HYPERLINK(\"\"http://x\"\")\""), "{text}");
    let exported: Value = world.get("/v1/admin/audit?action=admin.audit.exported").await.json();
    assert_eq!(exported["items"][0]["metadata"], json!({ "rows": 1 }));
}
