//! What an order would cost, and what it would be: taken from the catalog, and for some goods from their provider, before anything is
//! loaded.

use domain::{
    goods::Product,
    ids::{EntitlementId, OrderId, PlanVersionId, SubscriptionId},
    money::{Currency, Money},
    order::{Item, Operation},
};
use store::recipients::Recipient;

use super::{PlaceOrder, Wanted};
use crate::{
    Refusal, Service,
    catalog::{GoodsProduct, Pricing},
};

/// Ids that an order makes.
#[derive(Clone, Copy)]
#[expect(clippy::struct_field_names, reason = "the fields are named as everywhere else")]
pub(super) struct NewIds {
    pub(super) order_id: OrderId,
    pub(super) entitlement_id: EntitlementId,
    pub(super) subscription_id: SubscriptionId,
}

/// The order as it would be placed.
pub(super) struct Quote {
    pub(super) price: Money,
    /// For an extension the subscription is still to be taken from the entitlement.
    pub(super) item: Item,
    pub(super) recipient: Option<Recipient>,
}

impl Quote {
    pub(super) fn entitlement_id(&self) -> Option<EntitlementId> {
        match &self.item {
            Item::Plan { entitlement_id, .. } => Some(*entitlement_id),
            Item::Goods { .. } => None,
        }
    }
}

impl Service {
    pub(super) async fn quote(&self, request: &PlaceOrder, ids: NewIds) -> Result<Quote, Refusal> {
        match &request.item {
            Wanted::Purchase { plan_version_id } => {
                self.plan(*plan_version_id, request.currency, Operation::Purchase, ids)
            }
            Wanted::Extension {
                plan_version_id,
                entitlement_id,
            } => {
                let ids = NewIds {
                    entitlement_id: *entitlement_id,
                    ..ids
                };
                self.plan(*plan_version_id, request.currency, Operation::Extension, ids)
            }
            Wanted::Goods { product, recipient } => {
                if !self.goods_enabled {
                    return Err(Refusal::new(503, "shop_unavailable", "digital goods are switched off"));
                }
                let recipient = recipient.normalised()?;
                let product = self.catalog.product(product).ok_or(Refusal::new(
                    404,
                    "product_unavailable",
                    "there is no such product",
                ))?;
                let cost_minor = self.cost(product, request.currency).await?;
                let price = product.pricing.price(request.currency, cost_minor).ok_or(Refusal::new(
                    404,
                    "product_unavailable",
                    "the product is not sold in this currency",
                ))?;
                let product = Product {
                    code: product.code.clone(),
                    provider: product.provider.clone(),
                    kind: product.kind,
                    cost_minor,
                };
                Ok(Quote {
                    price,
                    item: Item::Goods { product },
                    recipient: Some(recipient),
                })
            }
        }
    }

    fn plan(&self, id: PlanVersionId, currency: Currency, operation: Operation, ids: NewIds) -> Result<Quote, Refusal> {
        let (version, price) = self.catalog.version(id, currency).ok_or(Refusal::new(
            404,
            "plan_unavailable",
            "there is no such plan version in this currency",
        ))?;
        let item = Item::Plan {
            operation,
            entitlement_id: ids.entitlement_id,
            subscription_id: ids.subscription_id,
            terms: version.terms.clone(),
        };
        Ok(Quote {
            price,
            item,
            recipient: None,
        })
    }

    /// What the provider takes. A fixed price does not need it; a markup cannot do without.
    async fn cost(&self, product: &GoodsProduct, currency: Currency) -> Result<Option<i64>, Refusal> {
        let unavailable = Refusal::new(503, "price_unavailable", "the provider's price is not available");
        let Some(provider) = self.goods.get(&product.provider) else {
            return match product.pricing {
                Pricing::Fixed(_) => Ok(None),
                Pricing::Markup { .. } => Err(unavailable),
            };
        };
        match (provider.unit_cost_minor(product.kind, currency).await, &product.pricing) {
            (Ok(Some(cost)), _) => Ok(Some(cost)),
            (_, Pricing::Fixed(_)) => Ok(None),
            (_, Pricing::Markup { .. }) => Err(unavailable),
        }
    }
}
