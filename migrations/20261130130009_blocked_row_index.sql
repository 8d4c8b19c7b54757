-- Each removal of an outbox row asks whether a block refers to it.
create index outbox_blocked_row on outbox_blocked (row_id);
