-- Our own record of every job that ended without success, whatever its kind: the queue's rows are removed a day (cancelled) or a week
-- (discarded) after their end, and only once they stand here. `dead_letters` says what still waits for a person; this says what happened.
create table dead_jobs (
    -- order of recording; also the cursor of readers
    id bigint generated always as identity primary key,
    -- the queue's id
    job_id bigint not null,
    -- by the queue; the same job may be retried and end again
    finalized_at timestamptz not null,
    kind text not null,
    queue text not null,
    state text not null
        constraint dead_jobs_state_known check (state in ('cancelled', 'discarded')),
    -- attempts begun, and after how many it is discarded
    attempt integer not null,
    max_attempts integer not null,
    -- operation id, order id or pass name that the job was for; `job:<id>` where this version cannot tell. As in dead_letters.
    subject text not null,
    -- ids by which the record is found, never the arguments themselves
    args_summary jsonb not null
        constraint dead_jobs_args_are_object check (jsonb_typeof(args_summary) = 'object'),
    error_count integer not null,
    -- redacted, one line; empty when there was none
    last_error text not null
        constraint dead_jobs_last_error_bounded check (length(last_error) <= 500),
    correlation_id text not null,
    created_at timestamptz not null,
    attempted_at timestamptz,
    recorded_at timestamptz not null default clock_timestamp(),
    constraint dead_jobs_end_key unique (job_id, finalized_at)
);

create index dead_jobs_kind on dead_jobs (kind, id);
create index dead_jobs_recorded on dead_jobs (recorded_at);

grant select, insert, delete on dead_jobs to omniflow_runtime;
