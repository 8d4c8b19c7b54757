//! Somebody who pays.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{CryptoPay, change, failure::Failure, invoice::shown, webhook};

/// Pays an invoice and sends what is owed for it.
pub(super) fn pay(service: &Arc<CryptoPay>, id: i64) -> Result<Value, Failure> {
    let now = service.now();
    let (update_id, answer) = service.ledger.change(
        now,
        |state| change::pay(state, id, now).map(Some),
        |state| {
            let invoice = state.get(id).ok_or(Failure::INVOICE_NOT_FOUND)?;
            Ok::<_, Failure>((state.update_of(id), json!(shown(invoice, &service.context.url, now))))
        },
    )?;
    if let Some(update_id) = update_id {
        webhook::send(service, update_id);
    }
    Ok(answer)
}

/// Pays a new invoice after a while, if the knobs say so.
pub(super) fn expect(service: &Arc<CryptoPay>, id: i64) {
    let Some(after) = service.knobs.get().pay_after_ms.map(Duration::from_millis) else {
        return;
    };
    let service = service.clone();
    service.context.background.clone().spawn(async move {
        if service.context.background.sleep(after).await {
            // Withdrawn, expired or paid meanwhile: then there is nothing to pay.
            let _ = pay(&service, id);
        }
    });
}
