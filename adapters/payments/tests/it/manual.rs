//! The manual provider: nothing to call, and the same answer however often it is asked.

use payments::Manual;
use ports::payments::{Capabilities, PaymentProvider as _, ProviderError, Status, WebhookError};

use crate::rig::request;

#[tokio::test]
async fn it_asks_a_person_and_nobody_else() {
    let wanted = request(7, 100, "XTR");
    let made = Manual.create(&wanted).await.expect("always");
    assert_eq!(
        (made.reference.clone(), made.status, made.checkout_url.clone()),
        (wanted.order_id.to_string(), Status::RequiresAction, None)
    );
    assert_eq!(Manual.recover(&wanted).await, Ok(Some(made.clone())));
    assert_eq!(Manual.cancel(&made.reference).await, Ok(()));
    assert_eq!(Manual.poll(&made.reference).await, Err(ProviderError::Unsupported));
    assert_eq!(Manual.verify(&[], b"{}"), Err(WebhookError::Unsupported));
    assert_eq!(
        Manual.capabilities(),
        Capabilities {
            webhooks: false,
            polling: false
        }
    );
    assert_eq!((Manual.slug(), Manual.window_seconds()), ("manual", 259_200));
    for currency in ["RUB", "XTR", "BHD", "NZD"] {
        assert!(Manual.supports(currency.parse().expect("known")));
    }
}
