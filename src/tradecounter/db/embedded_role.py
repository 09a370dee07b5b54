"""The service's role in the embedded database: it owns the schema `public` and has no other rights."""

import psycopg
from psycopg.sql import SQL, Identifier

from tradecounter.db.schema_state import CONNECT_SECONDS

ADMINISTRATOR = "postgres"
SERVICE_ROLE = "tradecounter"

_IS_OWNER = "select pg_get_userbyid(nspowner) = %s from pg_namespace where nspname = 'public'"

# A table's owner also owns its parts; an extension's objects keep their owner.
_OTHERS_OBJECTS = """
with object (catalog, id, owner) as (
    select 'pg_class'::regclass, oid, relowner from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    union all
    select 'pg_proc', oid, proowner from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select 'pg_type', oid, typowner from pg_type
    where typnamespace = 'public'::regnamespace and (
        typtype in ('e', 'd', 'r')
        or typtype = 'c' and (select relkind from pg_class where pg_class.oid = typrelid) = 'c')
)
select identified.type, identified.identity
from object, lateral pg_identify_object(catalog, id, 0) as identified
where owner <> to_regrole(%s)
    and not exists (
        select from pg_depend
        where classid = catalog and objid = id and (deptype = 'e' or deptype in ('a', 'i') and refobjsubid > 0))
"""


def hand_over(administrator_url: str) -> None:
    """Make the role the owner of the schema and all its objects, if it is not. Raises psycopg.Error.

    Also migrates clusters of earlier versions, in which the administrator owned everything, in one transaction.
    """
    with psycopg.connect(administrator_url, connect_timeout=CONNECT_SECONDS) as connection:
        if connection.execute(_IS_OWNER, [SERVICE_ROLE]).fetchone() == (True,):
            return
        role = Identifier(SERVICE_ROLE)
        if connection.execute("select to_regrole(%s)", [SERVICE_ROLE]).fetchone() == (None,):
            connection.execute(SQL("create role {} login").format(role))
        for kind, name in connection.execute(_OTHERS_OBJECTS, [SERVICE_ROLE]).fetchall():
            connection.execute(f"alter {kind} {name} owner to {SERVICE_ROLE}".encode())  # PostgreSQL quoted the name
        connection.execute(SQL("alter schema public owner to {}").format(role))
