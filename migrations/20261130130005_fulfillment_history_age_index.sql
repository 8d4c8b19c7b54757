-- Attempts of operations that ended well are removed after a while.
create index fulfillment_history_age on fulfillment_history (last_at);
