//! Webhooks: signed over the raw body, repeated until 2xx, a bounded number of times; several at once if told so.

use std::{sync::Arc, time::Duration};

use rand::Rng as _;
use ring::{digest, hmac};
use serde::Serialize;

use super::{
    CryptoPay,
    invoice::{Shown, iso, shown},
    state::Effect,
};
use crate::SandboxError;

#[derive(Serialize)]
struct Update<'a> {
    #[serde(rename = "update_id")]
    id: i64,
    #[serde(rename = "update_type")]
    kind: &'static str,
    request_date: String,
    payload: Shown<'a>,
}

/// Goes on after a restart.
pub(super) fn resume(service: &Arc<CryptoPay>) {
    for update_id in service.ledger.read(super::state::State::owed) {
        send(service, update_id);
    }
}

/// Sends an owed webhook in the background, unless webhooks are held back.
pub(super) fn send(service: &Arc<CryptoPay>, update_id: i64) {
    let knobs = service.knobs.get();
    if knobs.hold_webhooks {
        return;
    }
    for _ in 0..knobs.webhook_copies {
        let jitter = rand::rng().random_range(0..=knobs.webhook_jitter_ms);
        let first = Duration::from_millis(knobs.webhook_delay_ms.saturating_add(jitter));
        let service = service.clone();
        service
            .context
            .background
            .clone()
            .spawn(async move { repeat(&service, update_id, first).await });
    }
}

/// Sends a webhook once, now, owed or not. The status of the answer; `None` when there was none or nowhere to send.
pub(super) async fn send_once(service: &CryptoPay, update_id: i64) -> Option<u16> {
    let (url, body) = service.ledger.read(|state| {
        let invoice = state.of_update(update_id)?;
        let update = Update {
            id: update_id,
            kind: "invoice_paid",
            request_date: iso(service.now()),
            payload: shown(invoice, &service.context.url, service.now()),
        };
        Some((state.webhook_url()?.to_owned(), serde_json::to_string(&update).ok()?))
    })?;
    let request = service
        .context
        .http
        .post(url)
        .header("content-type", "application/json")
        .header("user-agent", "CryptoPay")
        .header(
            "crypto-pay-api-signature",
            sign(&service.context.token, body.as_bytes()),
        )
        .body(body);
    let status = request.send().await.ok()?.status();
    if status.is_success() {
        settle(service, Effect::WebhookAcknowledged { update_id });
    }
    Some(status.as_u16())
}

async fn repeat(service: &CryptoPay, update_id: i64, first_wait: Duration) {
    let mut wait = first_wait;
    let mut tries = 0_u8;
    while service.context.background.sleep(wait).await {
        if send_once(service, update_id)
            .await
            .is_some_and(|status| (200..300).contains(&status))
        {
            return;
        }
        tries = tries.saturating_add(1);
        let knobs = service.knobs.get();
        if tries >= knobs.webhook_tries {
            settle(service, Effect::WebhookGivenUp { update_id });
            return;
        }
        wait = knobs.wait_after(tries);
    }
}

/// Records the end of what was owed, once.
fn settle(service: &CryptoPay, effect: Effect) {
    let (Effect::WebhookAcknowledged { update_id } | Effect::WebhookGivenUp { update_id }) = effect else {
        return;
    };
    let recorded = service.ledger.change(
        service.now(),
        |state| Ok::<_, SandboxError>(state.owes(update_id).then_some(effect)),
        |_| Ok(()),
    );
    if let Err(error) = recorded {
        tracing::error!(%error, "the end of a webhook was not recorded; it will be sent again");
    }
}

fn sign(token: &str, body: &[u8]) -> String {
    let key = digest::digest(&digest::SHA256, token.as_bytes());
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()), body);
    tag.as_ref()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|it| char::from_digit(it.into(), 16))
        .collect()
}
