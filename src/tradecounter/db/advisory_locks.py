"""Every advisory lock that Tradecounter takes. All of them end with their transaction.

| Lock | Key | Taken by | Waits |
|---|---|---|---|
| migration | 7274301 | `db/migrate.py`, alone, for all missing migrations | yes |
| back-orders | 7274302 | serving back-orders, alone; dispatches, shared | yes |
| stalled jobs | 4815162342 | the worker that requeues stalled jobs, alone | never |
| idempotency key | hash of key and customer | the request that uses the key, alone | never |
| failures of an address | hash of the address | counting a wrong credential, alone | yes |
| wrong passwords from an address | hash of the address | counting a sign-in before it is checked, alone | yes |
| creations of a customer | 8, hash of the customer | creating an order or a quote: shared, near the cap alone | yes |

A transaction takes them before it locks rows, first the idempotency key, and waits for one at most. Hashes share 64
bits with the numbers: if two keys are ever equal, one request waits, or is told to retry, without need.
"""

from psycopg.sql import SQL

from tradecounter.db.statement import Statement

MIGRATE = "select pg_advisory_xact_lock(7274301)"

SERVE_BACK_ORDERS = Statement("select pg_advisory_xact_lock(7274302)")
HOLD_OFF_BACK_ORDERS = Statement("select pg_advisory_xact_lock_shared(7274302)")

TRY_TO_REQUEUE_STALLED_JOBS = Statement("select pg_try_advisory_xact_lock(4815162342)")

COUNT_FAILURES = Statement("select pg_advisory_xact_lock(hashtextextended('credential failure ' || :address, 0))")
COUNT_PASSWORDS = Statement("select pg_advisory_xact_lock(hashtextextended('password failure ' || :address, 0))")

# Parts of statements that also read something.
TRY_KEY = SQL("pg_try_advisory_xact_lock(hashtextextended({key}, {customer_id}))")
CREATE = SQL("pg_advisory_xact_lock_shared(8, hashint8({customer_id}))")
CREATE_ALONE = SQL("pg_advisory_xact_lock(8, hashint8({customer_id}))")
