//! `getInvoices`: filters, then a page, youngest first.

use domain::time::Timestamp;

use super::{
    failure::Failure,
    invoice::{Invoice, Pricing, Status},
    parameters::Parameters,
    state::State,
};

const DEFAULT_COUNT: i64 = 100;

/// What is asked for.
pub(super) struct Filter {
    ids: Option<Vec<i64>>,
    status: Option<Status>,
    fiat: Option<String>,
    asset: Option<String>,
    payload: Option<String>,
    offset: usize,
    count: usize,
}

impl Filter {
    pub(super) fn read(input: &Parameters) -> Result<Self, Failure> {
        let status = match input.text("status") {
            None => None,
            Some("active") => Some(Status::Active),
            Some("paid") => Some(Status::Paid),
            Some(_) => return Err(Failure::invalid("STATUS_INVALID")),
        };
        let size = |number: i64, refusal| usize::try_from(number).map_err(|_| Failure::invalid(refusal));
        let count = input.number("count", "COUNT_INVALID")?.unwrap_or(DEFAULT_COUNT);
        if !(1..=1000).contains(&count) {
            return Err(Failure::invalid("COUNT_INVALID"));
        }
        Ok(Self {
            ids: input.numbers("invoice_ids", "INVOICE_IDS_INVALID")?,
            status,
            fiat: input.text("fiat").map(str::to_owned),
            asset: input.text("asset").map(str::to_owned),
            payload: None,
            offset: size(input.number("offset", "OFFSET_INVALID")?.unwrap_or(0), "OFFSET_INVALID")?,
            count: size(count, "COUNT_INVALID")?,
        })
    }

    /// All invoices, or all of one payload: for the control API.
    pub(super) const fn of_payload(payload: Option<String>) -> Self {
        Self {
            ids: None,
            status: None,
            fiat: None,
            asset: None,
            payload,
            offset: 0,
            count: usize::MAX,
        }
    }

    pub(super) fn page<'a>(&'a self, state: &'a State, now: Timestamp) -> impl Iterator<Item = &'a Invoice> {
        state
            .youngest_first()
            .filter(move |invoice| self.takes(invoice, now))
            .skip(self.offset)
            .take(self.count)
    }

    fn takes(&self, invoice: &Invoice, now: Timestamp) -> bool {
        let (fiat, asset) = match &invoice.pricing {
            Pricing::Fiat { fiat } => (Some(fiat), None),
            Pricing::Crypto { asset } => (None, Some(asset)),
        };
        self.ids.as_ref().is_none_or(|ids| ids.contains(&invoice.id))
            && self.status.is_none_or(|status| invoice.status_at(now) == status)
            && self.fiat.as_ref().is_none_or(|wanted| fiat == Some(wanted))
            && self.asset.as_ref().is_none_or(|wanted| asset == Some(wanted))
            && self
                .payload
                .as_ref()
                .is_none_or(|wanted| invoice.payload.as_ref() == Some(wanted))
    }
}
