#!/bin/sh
# The roles of the workers and of the console, which own no table; the migrations find them there and grant them what they may do.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set "password=$SEVEN_APP_PASSWORD" --set "console=$SEVEN_CONSOLE_PASSWORD" <<'SQL'
create role seven_app login password :'password';
create role seven_console login password :'console';
SQL
