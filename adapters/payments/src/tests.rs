use domain::money::{Currency, Error, Money};
use proptest::prelude::*;

use crate::amount::{format, parse};

fn currency(code: &str) -> Currency {
    code.parse().expect("a known currency")
}

fn minor(text: &str, code: &str) -> Result<i64, Error> {
    parse(text, currency(code)).map(Money::amount_minor)
}

#[test]
fn amounts_are_read_without_floats() {
    assert_eq!(minor("299", "RUB"), Ok(29_900));
    assert_eq!(minor("299.5", "RUB"), Ok(29_950));
    assert_eq!(minor("0.07", "USD"), Ok(7));
    assert_eq!(minor("1.18", "RUB"), Ok(118));
    assert_eq!(minor("007.10", "RUB"), Ok(710));
    assert_eq!(minor("150", "XTR"), Ok(150));
    assert_eq!(minor("1.234", "BHD"), Ok(1_234));
    assert_eq!(minor("90071992547409.91", "RUB"), Ok(domain::money::MAX_MINOR));
}

#[test]
fn what_is_no_amount_is_refused() {
    for text in [
        "", ".", "1.", ".5", "-1", "+1", "1e2", "1,5", " 1", "1 ", "1.234", "0x1", "NaN", "1.2.3", "١",
    ] {
        assert_eq!(minor(text, "RUB"), Err(Error::Malformed), "{text:?}");
    }
    assert_eq!(minor("1.0", "XTR"), Err(Error::Malformed));
    assert_eq!(minor("90071992547409.92", "RUB"), Err(Error::OutOfRange));
    assert_eq!(minor(&"9".repeat(60), "RUB"), Err(Error::OutOfRange));
}

proptest! {
    #[test]
    fn what_is_written_is_read(amount in 0..=domain::money::MAX_MINOR, code in prop::sample::select(vec!["RUB", "XTR", "BHD"])) {
        let money = Money::new(amount, currency(code)).expect("in range");
        prop_assert_eq!(parse(&format(money), money.currency()), Ok(money));
    }

    #[test]
    fn no_text_makes_reading_panic(text in any::<String>()) {
        let _ = parse(&text, currency("RUB"));
    }
}
