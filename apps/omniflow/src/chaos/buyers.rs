//! Customers: each orders, asks for a payment and pays, and asks again with the same key whenever nobody answered.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ports::ids::{Ids as _, SystemIds};
use sandbox::control::Client;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{
    driver::{Bought, Goods, Paid, Shop, ShopError},
    failure::Failure,
};

/// The sample catalog's first plan, and goods.
const PLAN: Uuid = Uuid::from_u128(0x0196_0000_0000_7000_8000_0000_0000_0001);
const PRODUCT: &str = "stars-100";
/// A payment whose first asking died may be with the provider for 45 s more; a customer waits for a few of these.
const PATIENCE: Duration = Duration::from_secs(180);

/// An order that was paid for.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) id: Uuid,
    pub(super) what: What,
    /// When the payment was acknowledged.
    pub(super) paid: Instant,
}

/// What the outside world should show for it.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// The subscription of a plan.
    Plan(Uuid),
    /// The recipient of goods.
    Goods(String),
}

/// What one of them wants.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    /// Paid at the simulated provider, or by an operator's word.
    Plan { at_provider: bool },
    /// For this recipient.
    Goods(String),
}

/// All who are on their way.
pub(super) struct Buyers {
    shops: Vec<Shop>,
    control: Arc<Client>,
    buying: JoinSet<Result<Order, Failure>>,
    /// Who came through.
    pub(super) paid: Vec<Order>,
    /// What those met who did not.
    pub(super) refused: Vec<String>,
}

impl Buyers {
    pub(super) fn new(shops: Vec<Shop>, control: Arc<Client>) -> Self {
        Self {
            shops,
            control,
            buying: JoinSet::new(),
            paid: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// One more comes; the number says to which API.
    pub(super) fn come(&mut self, number: u32, wish: Wish) {
        let number = usize::try_from(number).unwrap_or_default();
        let place = number.checked_rem(self.shops.len()).unwrap_or_default();
        if let Some(shop) = self.shops.get(place).cloned() {
            self.buying.spawn(buy(shop, Arc::clone(&self.control), wish));
        }
    }

    /// How many are not through.
    pub(super) fn on_their_way(&self) -> usize {
        self.buying.len()
    }

    /// Notes who is through by now. Answers whether all are.
    pub(super) fn note(&mut self) -> bool {
        while let Some(bought) = self.buying.try_join_next() {
            match bought.map_err(Failure::unavailable) {
                Ok(Ok(order)) => self.paid.push(order),
                Ok(Err(failure)) | Err(failure) => self.refused.push(failure.to_string()),
            }
        }
        self.buying.is_empty()
    }
}

async fn buy(shop: Shop, control: Arc<Client>, wish: Wish) -> Result<Order, Failure> {
    let (key, customer) = (SystemIds.next(), SystemIds.next());
    let order: Bought = match &wish {
        Wish::Plan { .. } => shop.buy_plan(key, customer, PLAN).await?,
        Wish::Goods(username) => {
            let goods = Goods {
                product: PRODUCT,
                username,
            };
            shop.buy_goods(key, customer, goods).await?
        }
    };
    let at_provider = matches!(wish, Wish::Plan { at_provider: true });
    let provider = if at_provider { "cryptobot" } else { "manual" };
    let payment = ask_for_money(&shop, order.id, provider).await?;
    let invoice = payment.provider_reference.and_then(|reference| reference.parse().ok());
    match invoice.filter(|_| at_provider) {
        Some(invoice) => control.pay_invoice(invoice).await?,
        None => shop.approve(SystemIds.next(), payment.id).await?,
    }
    Ok(Order {
        id: order.id,
        what: match wish {
            Wish::Plan { .. } => What::Plan(order.subscription_id.unwrap_or_default()),
            Wish::Goods(recipient) => What::Goods(recipient),
        },
        paid: Instant::now(),
    })
}

/// With one key, so that it is one payment however often it is asked for.
async fn ask_for_money(shop: &Shop, order: Uuid, provider: &str) -> Result<Paid, ShopError> {
    let (key, deadline) = (SystemIds.next(), Instant::now() + PATIENCE);
    loop {
        match shop.ask_for_money(key, order, provider).await {
            Err(ShopError::Silent { .. }) if Instant::now() < deadline => {}
            answered => return answered,
        }
    }
}
