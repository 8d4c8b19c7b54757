-- Our own record of work that ended without success. It outlives the queue's pruning of finished jobs.
create table dead_letters (
    dead_letter_id bigint generated always as identity primary key,
    kind text not null,
    -- operation id, order id or pass name that the job was for
    subject text not null,
    job_id bigint,
    attempts integer not null,
    code text not null,
    correlation_id text not null,
    occurred_at timestamptz not null default clock_timestamp(),
    resolved_at timestamptz
);

create index dead_letters_open on dead_letters (occurred_at) where resolved_at is null;
create index dead_letters_subject on dead_letters (kind, subject);

grant select, insert, update on dead_letters to omniflow_runtime;
