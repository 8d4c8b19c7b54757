-- Published rows are removed after a while (APP_RETENTION_OUTBOX_DAYS); without this index each batch would scan the table.
create index outbox_published on outbox (published_at) where published_at is not null;
