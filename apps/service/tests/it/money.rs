//! Any amount: what is not exactly owed never settles, and nothing overflows.

use domain::money::{MAX_MINOR, Money};
use proptest::{prelude::*, test_runner::TestRunner};
use service::catalog::Pricing;

use crate::world::{World, caller, refusal};

#[test]
fn any_told_amount_settles_only_when_it_is_exact() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let world = runtime.block_on(World::new());
    let count = std::cell::Cell::new(0_u32);
    let amounts = prop_oneof![
        Just(29_900_i64),
        29_890_i64..29_910,
        -MAX_MINOR..=MAX_MINOR,
        Just(MAX_MINOR),
        Just(-MAX_MINOR),
        Just(0)
    ];
    let config = ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    TestRunner::new(config)
        .run(
            &(amounts, prop::sample::select(vec!["RUB", "USD", "XTR", "KWD"])),
            |(minor, currency)| {
                let number = count.get() + 1;
                count.set(number);
                let told = Money::new(minor, currency.parse().unwrap()).unwrap();
                let exact = minor == 29_900 && currency == "RUB";
                let state = runtime.block_on(async {
                    let order_id = world.placed(&format!("o{number}"), &world.purchase("month")).await;
                    let payment = world.start(&format!("p{number}"), order_id, "fakepay").await.unwrap();
                    let reference = payment.provider_reference.unwrap();
                    world.pay.set_amount(&reference, told);
                    world.pay.set(&reference, ports::payments::Status::Succeeded);
                    let polled = world.service.reconcile_payment(&caller(), payment.id).await;
                    assert!(polled.is_ok() || (minor <= 0 && refusal(polled).code == "reconciliation_failed"));
                    world.webhook(&reference).await.unwrap();
                    world.state(order_id).await
                });
                prop_assert_eq!(state, if exact { "paid" } else { "pending" });
                Ok(())
            },
        )
        .unwrap();
}

proptest! {
    #[test]
    fn a_markup_never_sells_below_cost_and_never_overflows(cost in any::<i64>(), basis_points in any::<u32>()) {
        let currency = "RUB".parse().unwrap();
        let pricing = Pricing::Markup { basis_points, currencies: vec![currency] };
        if let Some(price) = pricing.price(currency, Some(cost)) {
            prop_assert!(cost > 0 && price.amount_minor() >= cost && price.amount_minor() <= MAX_MINOR);
        }
        prop_assert_eq!(pricing.price(currency, None), None);
    }
}
