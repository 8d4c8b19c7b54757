-- Calls with a bad signature are counted per provider and minute before another one is kept.
create index webhook_events_forged on webhook_events (provider, received_at) where not signature_valid;
