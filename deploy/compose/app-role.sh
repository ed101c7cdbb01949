#!/bin/sh
# The role of the workers, which owns no table; the migrations find it there and grant it what it may do.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set "password=$SEVEN_APP_PASSWORD" <<'SQL'
create role seven_app login password :'password';
SQL
