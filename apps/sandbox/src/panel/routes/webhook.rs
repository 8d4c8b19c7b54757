//! Webhooks: signed over the raw body, tried four times, then dropped.

use std::time::Duration;

use domain::time::Timestamp;
use ring::hmac;
use serde_json::json;

use crate::panel::{Panel, User, shown, state::Effect};

const TRIES: u8 = 4;
const GAP: Duration = Duration::from_secs(5);

/// Sends what the panel would send about an effect, in the background.
pub(super) fn send(panel: &Panel, effect: &Effect, user: &User, now: Timestamp) {
    let knobs = panel.knobs.get();
    let Some(url) = knobs.webhook_url else { return };
    let event = match effect {
        Effect::UserCreated { .. } => "user.created",
        Effect::UserPatched { .. } => "user.modified",
        Effect::UserEnabled { .. } => "user.enabled",
        Effect::UserDisabled { .. } => "user.disabled",
        Effect::TrafficReset { .. } => "user.traffic_reset",
        Effect::UserDeleted { .. } => "user.deleted",
        Effect::TrafficSet { .. } => return,
    };
    let timestamp = shown::iso(now);
    let body = json!({ "scope": "user", "event": event, "timestamp": timestamp, "data": shown::user(user, now), "meta": null })
        .to_string();
    let signature = sign(&panel.webhook_secret, body.as_bytes());
    for _ in 0..knobs.webhook_copies {
        let (http, background) = (panel.context.http.clone(), panel.context.background.clone());
        let request = http
            .post(&url)
            .header("content-type", "application/json")
            .header("user-agent", "Remnawave")
            .header("x-remnawave-timestamp", &timestamp)
            .header("x-remnawave-signature", &signature)
            .body(body.clone());
        let mut wait = Duration::from_millis(knobs.webhook_delay_ms);
        panel.context.background.spawn(async move {
            for _ in 0..TRIES {
                if !background.sleep(wait).await {
                    return;
                }
                let Some(request) = request.try_clone() else { return };
                if request.send().await.is_ok_and(|answer| answer.status().is_success()) {
                    return;
                }
                wait = GAP;
            }
        });
    }
}

fn sign(secret: &str, body: &[u8]) -> String {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body);
    tag.as_ref()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 0x0f])
        .filter_map(|nibble| char::from_digit(u32::from(nibble), 16))
        .collect()
}
