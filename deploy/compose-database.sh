#!/bin/sh
# PostgreSQL's container runs it once, in a new database: makes the service's role, which is not the superuser.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres << 'END'
\getenv password SERVICE_PASSWORD
create role tradecounter login password :'password';
create database tradecounter owner tradecounter;
END
