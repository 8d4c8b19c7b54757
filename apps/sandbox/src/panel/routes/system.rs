//! Squads, version, health.

use std::sync::Arc;

use axum::{extract::State as Shared, http::StatusCode, response::Response};
use serde_json::{Value, json};

use crate::panel::{DEFAULT_SQUADS, Panel, answer::envelope, shown};

pub(super) async fn squads(Shared(panel): Shared<Arc<Panel>>) -> Response {
    let now = shown::iso(panel.now());
    let squads: Vec<Value> = DEFAULT_SQUADS
        .iter()
        .enumerate()
        .map(|(position, (id, name))| {
            let members = panel.ledger.read(|state| {
                state
                    .after(0)
                    .filter(|user| user.active_internal_squads.contains(id))
                    .count()
            });
            json!({
                "uuid": id, "viewPosition": position, "name": name,
                "info": { "membersCount": members, "inboundsCount": 0 },
                "inbounds": [], "createdAt": now, "updatedAt": now,
            })
        })
        .collect();
    envelope(
        StatusCode::OK,
        &json!({ "total": squads.len(), "internalSquads": squads }),
    )
}

pub(super) async fn metadata(Shared(panel): Shared<Arc<Panel>>) -> Response {
    let payload = json!({
        "version": panel.knobs.get().version,
        "build": { "time": shown::iso(panel.now()), "number": "sandbox" },
        "git": { "backend": {}, "frontend": {} },
    });
    envelope(StatusCode::OK, &payload)
}

pub(super) async fn health(Shared(panel): Shared<Arc<Panel>>) -> Response {
    let metrics = json!({
        "rss": 0, "heapUsed": 0, "heapTotal": 0, "external": 0, "arrayBuffers": 0, "eventLoopDelayMs": 0,
        "eventLoopP99Ms": 0, "activeHandles": 0, "uptime": 0, "pid": std::process::id(),
        "timestamp": panel.now().timestamp_millis(), "instanceId": "0", "instanceType": "api",
    });
    envelope(StatusCode::OK, &json!({ "runtimeMetrics": [metrics] }))
}
