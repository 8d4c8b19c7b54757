-- Deliveries that wait for a person are counted for metrics every few seconds, beside any number that ended.
create index goods_deliveries_review on goods_deliveries (updated_at) where status = 'needs_review';
