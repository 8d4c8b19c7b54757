-- A webhook of the panel is a hint: {event, remoteUserId, sentAt}. Its body holds the user's keys and links, so it is never stored.
alter table webhook_events add column hint jsonb;

create index webhook_events_hints on webhook_events (next_try_at)
    where hint is not null and status in ('received', 'failed') and signature_valid;
