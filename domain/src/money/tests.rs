//! Vectors of amounts, and properties over all of them.

use proptest::prelude::*;

use super::*;

fn currency(code: &str) -> Currency {
    code.parse().expect("a known currency")
}

fn parse(text: &str, code: &str) -> Result<i64, Error> {
    Money::parse_decimal(text, currency(code)).map(Money::amount_minor)
}

#[test]
fn decimal_text_is_read_without_rounding() {
    let vectors = [
        ("10", "RUB", 1000),
        ("10.5", "RUB", 1050),
        ("10.50", "RUB", 1050),
        ("0.01", "USD", 1),
        ("007.10", "USD", 710),
        ("10", "JPY", 10),
        ("250", "XTR", 250),
        ("1.234", "KWD", 1234),
        ("1.2", "KWD", 1200),
        ("90071992547409.91", "RUB", MAX_MINOR),
    ];
    for (text, code, minor) in vectors {
        assert_eq!(parse(text, code), Ok(minor), "{text} {code}");
    }
}

#[test]
fn any_other_text_is_refused() {
    let malformed = [
        "", ".", "10.505", "10.500", "-1", "+1", "1.2.3", ".5", "5.", "1,5", "1e3", "0x10", " 1", "1 ", "١", "1_000",
        "NaN", "1.-5",
    ];
    for text in malformed {
        assert_eq!(parse(text, "RUB"), Err(Error::Malformed), "{text}");
    }
    assert_eq!(parse("1.0", "JPY"), Err(Error::Malformed));
    assert_eq!(parse("1.2345", "KWD"), Err(Error::Malformed));
    assert_eq!(parse("90071992547409.92", "RUB"), Err(Error::OutOfRange));
    assert_eq!(parse("99999999999999999999999999", "RUB"), Err(Error::OutOfRange));
}

#[test]
fn decimal_text_is_written_with_all_digits() {
    let vectors = [
        (1050, "RUB", "10.50"),
        (5, "RUB", "0.05"),
        (0, "RUB", "0.00"),
        (-5, "RUB", "-0.05"),
        (-1050, "RUB", "-10.50"),
        (10, "JPY", "10"),
        (0, "XTR", "0"),
        (1, "KWD", "0.001"),
        (MAX_MINOR, "RUB", "90071992547409.91"),
    ];
    for (minor, code, text) in vectors {
        assert_eq!(
            Money::new(minor, currency(code)).map(Money::to_decimal),
            Ok(text.to_owned())
        );
    }
}

#[test]
fn currencies_are_a_closed_set() {
    for code in ["", "RU", "RUBL", "rub", "ABC", "РУБ"] {
        assert_eq!(code.parse::<Currency>(), Err(Error::UnknownCurrency), "{code}");
    }
    assert_eq!(currency("XTR").exponent(), 0);
    assert_eq!(currency("TND").exponent(), 3);
    assert_eq!(currency("UZS").exponent(), 2);
}

#[test]
fn two_currencies_never_meet() {
    let (roubles, dollars) = (Money::zero(currency("RUB")), Money::zero(currency("USD")));
    assert_eq!(roubles.checked_add(dollars), Err(Error::CurrencyMismatch));
    assert_eq!(roubles.checked_sub(dollars), Err(Error::CurrencyMismatch));
    assert_eq!(roubles.compare(dollars), Err(Error::CurrencyMismatch));
}

#[test]
fn amounts_are_bounded_when_made_and_when_read() {
    assert_eq!(Money::new(MAX_MINOR + 1, currency("RUB")), Err(Error::OutOfRange));
    assert_eq!(Money::new(i64::MIN, currency("RUB")), Err(Error::OutOfRange));
    let stored = format!(r#"{{"amountMinor":{},"currency":"RUB"}}"#, MAX_MINOR + 1);
    assert!(serde_json::from_str::<Money>(&stored).is_err());
    let most = Money::new(MAX_MINOR, currency("RUB")).expect("in range");
    assert_eq!(most.checked_add(most), Err(Error::OutOfRange));
}

fn any_money() -> impl Strategy<Value = Money> {
    let codes = prop::sample::select(vec!["RUB", "JPY", "KWD", "XTR"]);
    (-MAX_MINOR..=MAX_MINOR, codes).prop_map(|(minor, code)| Money::new(minor, currency(code)).expect("in range"))
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(money in any_money()) {
        let text = money.to_decimal();
        if money.amount_minor() < 0 {
            prop_assert_eq!(Money::parse_decimal(&text, money.currency()), Err(Error::Malformed));
        } else {
            prop_assert_eq!(Money::parse_decimal(&text, money.currency()), Ok(money));
        }
        let json = serde_json::to_string(&money).expect("serialises");
        prop_assert_eq!(serde_json::from_str::<Money>(&json).expect("reads back"), money);
    }

    #[test]
    fn sums_agree_with_exact_arithmetic(left in any_money(), right in any_money()) {
        if left.currency() == right.currency() {
            let exact = i128::from(left.amount_minor()) + i128::from(right.amount_minor());
            match left.checked_add(right) {
                Ok(sum) => {
                    prop_assert_eq!(i128::from(sum.amount_minor()), exact);
                    prop_assert_eq!(sum.checked_sub(right), Ok(left));
                }
                Err(reason) => {
                    prop_assert_eq!(reason, Error::OutOfRange);
                    prop_assert!(exact.abs() > i128::from(MAX_MINOR));
                }
            }
        }
    }

    #[test]
    fn any_text_is_an_amount_or_an_error(text in "[-+0-9., e]{0,24}", code in prop::sample::select(vec!["RUB", "JPY", "KWD"])) {
        if let Ok(money) = Money::parse_decimal(&text, currency(code)) {
            prop_assert!((0..=MAX_MINOR).contains(&money.amount_minor()));
            prop_assert!(text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'));
        }
    }
}
