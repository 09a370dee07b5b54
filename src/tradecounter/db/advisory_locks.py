"""All advisory locks. Each is released at the end of its transaction.

docs/architecture.md lists who takes each, and in which order.
Hashes and numbers share 64 bits: if two keys are equal by chance, a request waits or has to retry needlessly.
"""

from psycopg.sql import SQL

from tradecounter.db.statement import Statement

MIGRATE = "select pg_advisory_xact_lock(7274301)"

SERVE_ALONE = Statement("select pg_advisory_xact_lock(7274302)")
HOLD_OFF_SERVING = Statement("select pg_advisory_xact_lock_shared(7274302)")

TRY_TO_REQUEUE_STALLED_JOBS = Statement("select pg_try_advisory_xact_lock(4815162342)")

TRY_TO_NUMBER_EVENTS = Statement("select pg_try_advisory_xact_lock(7274303)")

CHANGE_ISSUER_KEYS = Statement("select pg_advisory_xact_lock(7274304)")

TRY_TO_LIVE = Statement("select pg_try_advisory_xact_lock(7274306)")

ADD_RESELLER_WEBHOOK = Statement("select pg_advisory_xact_lock(7274307)")

COUNT_FAILURES = Statement("select pg_advisory_xact_lock(hashtextextended('credential failure ' || :address, 0))")
COUNT_PASSWORDS = Statement("select pg_advisory_xact_lock(hashtextextended('password failure ' || :address, 0))")
REGISTER_CLIENT = Statement("select pg_advisory_xact_lock(hashtextextended('agent client ' || :address, 0))")

# Expressions for statements that also read data.
TRY_KEY = SQL("pg_try_advisory_xact_lock(hashtextextended({key}, {customer_id}))")
CREATE = SQL("pg_advisory_xact_lock_shared(8, hashint8({customer_id}))")
CREATE_ALONE = SQL("pg_advisory_xact_lock(8, hashint8({customer_id}))")
