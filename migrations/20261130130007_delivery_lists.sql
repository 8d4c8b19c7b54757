-- Operators look for deliveries that wait for their decision, and for those whose end without goods left a debt.
create index deliveries_review on read.deliveries (order_id) where state = 'needs_review';
create index deliveries_debts on read.deliveries (order_id) where refund_owed_minor > 0;
