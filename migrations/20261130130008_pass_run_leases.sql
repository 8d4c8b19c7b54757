alter table pass_runs
    -- While it lies ahead, the run is on: whoever runs the pass moves it. Without an end by then, the run was killed.
    add column alive_until timestamptz,
    -- Names the process that runs it.
    add column runner text,
    -- The queue's job; null where a person started the run.
    add column job_id bigint,
    -- Start of the last run that succeeded, whatever came after it.
    add column last_success_at timestamptz;

-- Passes that no version runs any more are removed.
grant delete on pass_runs to omniflow_runtime;
