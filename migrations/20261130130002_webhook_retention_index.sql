-- Stored calls are removed after `retain_until`.
create index webhook_events_retain on webhook_events (retain_until);
