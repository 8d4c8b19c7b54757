#!/bin/sh
# Run once, when the database is made: the role that processes work as, and their login. Neither owns anything, so neither can change
# or remove events.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$OMNIFLOW_APP_PASSWORD" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
create role omniflow_runtime nologin;
create role omniflow_app login password :'password' in role omniflow_runtime;
SQL
