//! The price of Stars, from a JSON number to minor units without a float in between.

use domain::money::{Currency, Money};
use ports::goods::AdapterError;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outcome::Reply;

#[derive(Deserialize)]
struct StarValue<'a> {
    ok: bool,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// What `quantity` Stars cost: the price of one, rounded to minor units half up, times their number.
pub(super) fn cost_minor(answer: &Reply, quantity: i64, currency: Currency) -> Result<i64, AdapterError> {
    let body = match answer {
        Reply::Success(body) => body,
        Reply::Status(status) => return Err(unusable(&format!("http_{status}"))),
        Reply::Nothing => return Err(unusable("gateway_unreachable")),
    };
    let told: StarValue<'_> = serde_json::from_slice(body).map_err(|_| unusable("price_malformed"))?;
    let each = minor(told.value.get(), currency)
        .filter(|_| told.ok)
        .ok_or_else(|| unusable("price_malformed"))?;
    let cost = each
        .checked_mul(quantity)
        .ok_or_else(|| unusable("price_out_of_range"))?;
    let cost = Money::new(cost, currency)
        .map_err(|_| unusable("price_out_of_range"))?
        .amount_minor();
    // A free Star is a broken gateway, not an offer.
    if cost > 0 {
        Ok(cost)
    } else {
        Err(unusable("price_not_positive"))
    }
}

/// A JSON number in major units to minor units, half up. Exponents are refused: no price needs one.
fn minor(text: &str, currency: Currency) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let exponent = usize::try_from(currency.exponent()).ok()?;
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(exponent).collect();
    let rounds_up = fraction.as_bytes().get(exponent).is_some_and(|digit| *digit >= b'5');
    format!("{whole}{kept}")
        .parse::<i64>()
        .ok()?
        .checked_add(i64::from(rounds_up))
}

fn unusable(detail: &str) -> AdapterError {
    AdapterError {
        detail: detail.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cost(body: &str, quantity: i64) -> Result<i64, String> {
        let currency = "RUB".parse().expect("known");
        cost_minor(&Reply::Success(body.as_bytes().to_vec()), quantity, currency).map_err(|error| error.detail)
    }

    #[test]
    fn prices_are_exact() {
        assert_eq!(cost(r#"{"ok":true,"value":1.18}"#, 50), Ok(5_900));
        assert_eq!(cost(r#"{"ok":true,"value":1}"#, 100), Ok(10_000));
        assert_eq!(cost(r#"{"ok":true,"value":1.5}"#, 50), Ok(7_500));
        // what floats make of it: 1.005 * 100 is 100.49999…
        assert_eq!(cost(r#"{"ok":true,"value":1.005}"#, 1), Ok(101));
        assert_eq!(cost(r#"{"ok":true,"value":1.1800000000000002}"#, 50), Ok(5_900));
        assert_eq!(cost(r#"{"ok":true,"value":0.994999}"#, 1), Ok(99));
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for (body, detail) in [
            (r#"{"ok":false,"value":1.18}"#, "price_malformed"),
            (r#"{"ok":true}"#, "price_malformed"),
            (r#"{"ok":true,"value":"1.18"}"#, "price_malformed"),
            (r#"{"ok":true,"value":null}"#, "price_malformed"),
            (r#"{"ok":true,"value":-1.18}"#, "price_malformed"),
            (r#"{"ok":true,"value":1.18e0}"#, "price_malformed"),
            (r#"{"ok":true,"value":99999999999999999999}"#, "price_malformed"),
            (r#"{"ok":true,"value":90071992547409.91}"#, "price_out_of_range"),
            (r#"{"ok":true,"value":0}"#, "price_not_positive"),
            (r#"{"ok":true,"value":0.004}"#, "price_not_positive"),
            ("garbage", "price_malformed"),
        ] {
            assert_eq!(cost(body, 50), Err(detail.to_owned()), "{body}");
        }
        let currency: Currency = "RUB".parse().expect("known");
        assert!(cost_minor(&Reply::Status(500), 50, currency).is_err());
        assert!(cost_minor(&Reply::Nothing, 50, currency).is_err());
    }

    proptest! {
        #[test]
        fn two_fraction_digits_are_kept_exactly(whole in 0_i64..1_000_000, cents in 0_i64..100, quantity in 1_i64..10_000) {
            prop_assume!(whole + cents > 0);
            let body = format!(r#"{{"ok":true,"value":{whole}.{cents:02}}}"#);
            prop_assert_eq!(cost(&body, quantity), Ok((whole * 100 + cents) * quantity));
        }

        #[test]
        fn no_answer_makes_it_panic(body in any::<Vec<u8>>(), value in "[0-9.eE+-]{0,40}", quantity in any::<i64>()) {
            let currency = "RUB".parse().expect("known");
            let _ = cost_minor(&Reply::Success(body), quantity, currency);
            let _ = cost(&format!(r#"{{"ok":true,"value":{value}}}"#), quantity);
        }
    }
}
