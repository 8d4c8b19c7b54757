//! What may be asked of the gateway. Everything else is refused here, before anything is sent.

use domain::{
    delivery::{FailureClass, Submission},
    goods::{Kind, Recipient},
};
use ports::goods::SubmitRequest;
use serde::Serialize;

use super::outcome::failed;

/// One request: where it goes and what it says.
pub(super) struct Purchase {
    pub(super) path: &'static [&'static str],
    pub(super) body: Body,
}

/// No order id and no key: the gateway knows neither.
#[derive(Serialize)]
pub(super) struct Body {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<i64>,
    username: String,
    /// Stars, or months.
    quantity: i64,
}

pub(super) fn purchase(request: &SubmitRequest) -> Result<Purchase, Submission> {
    let recipient =
        Recipient::parse(&request.username).map_err(|_| failed(FailureClass::RecipientInvalid, "invalid_username"))?;
    if !request.kind.is_sellable() {
        return Err(failed(FailureClass::Permanent, "unsellable_product"));
    }
    let (path, quantity): (&[&str], i64) = match request.kind {
        Kind::TelegramStars { quantity } => (&["admin", "stars", "send"], quantity),
        Kind::TelegramPremium { months } => (&["admin", "premium", "send"], i64::from(months)),
    };
    let body = Body {
        user_id: request.telegram_user_id,
        username: recipient.as_str().to_owned(),
        quantity,
    };
    Ok(Purchase { path, body })
}

#[cfg(test)]
mod tests {
    use domain::{goods::Kind, ids::OrderId};

    use super::*;

    fn refusal(username: &str, kind: Kind) -> Option<Submission> {
        let request = SubmitRequest {
            order_id: OrderId::default(),
            idempotency_key: "goods:x".to_owned(),
            kind,
            username: username.to_owned(),
            telegram_user_id: None,
        };
        purchase(&request).err()
    }

    #[test]
    fn only_usernames_are_sent() {
        let stars = Kind::TelegramStars { quantity: 50 };
        for good in ["alice", "Alice_1", &"a".repeat(32)] {
            assert_eq!(refusal(good, stars), None, "{good}");
        }
        for bad in [
            "",
            "abcd",
            &"a".repeat(33),
            "1alice",
            "_alice",
            "ali ce",
            "алиса",
            "ali\u{0}ce",
            "alice,bob",
        ] {
            assert_eq!(
                refusal(bad, stars),
                Some(failed(FailureClass::RecipientInvalid, "invalid_username")),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn only_sellable_sizes_are_sent() {
        let unsellable = Some(failed(FailureClass::Permanent, "unsellable_product"));
        for (quantity, expected) in [
            (50, None),
            (1_000_000, None),
            (49, unsellable.clone()),
            (0, unsellable.clone()),
            (-50, unsellable.clone()),
        ] {
            assert_eq!(
                refusal("alice", Kind::TelegramStars { quantity }),
                expected,
                "{quantity} stars"
            );
        }
        for months in -1..=24 {
            let expected = if matches!(months, 3 | 6 | 12) {
                None
            } else {
                unsellable.clone()
            };
            assert_eq!(
                refusal("alice", Kind::TelegramPremium { months }),
                expected,
                "{months} months"
            );
        }
    }
}
