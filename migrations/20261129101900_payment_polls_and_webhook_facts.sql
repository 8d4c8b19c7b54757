-- A payment whose creation was never answered has no reference yet; the pass finds it at its provider by our order id, so the index of
-- due polls must hold it too.
drop index payment_intents_poll;
create index payment_intents_poll on payment_intents (next_poll_at) where status in ('pending', 'processing');

-- Until then a call to the provider may be in flight: nobody else asks the provider to create the payment meanwhile.
alter table payment_intents add column calling_until timestamptz;

-- What a verified call said, in our words: {reference, merchantReference, status, amountMinor, currency}. Processing starts from it,
-- because the signature was checked when the call came in and its headers are not kept.
alter table webhook_events add column payment jsonb;

-- The expiry pass looks for unpaid orders whose window is over.
create index orders_pending on read.orders (expires_at) where state = 'pending';
