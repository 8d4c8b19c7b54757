-- Read models live in `read`, a rebuild in `rebuild`, what a rebuild replaced in `old`. The runtime role owns them because a
-- rebuild moves tables between them.
create schema read authorization omniflow_runtime;
create schema rebuild authorization omniflow_runtime;
create schema old authorization omniflow_runtime;
