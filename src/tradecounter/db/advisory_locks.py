"""All advisory locks. Each is released at the end of its transaction.

| Lock | Key | Taken by | Waits |
|---|---|---|---|
| migration | 7274301 | `db/migrate.py`, alone, for all missing migrations | yes |
| back-orders | 7274302 | serving back-orders, alone; dispatches, shared | yes |
| stalled jobs | 4815162342 | the worker that requeues stalled jobs, alone | never |
| numbering of events | 7274303 | the worker that numbers events, alone | never |
| keys of the issuer | 7274304 | making and replacing the key that signs consent, alone | yes |
| lives of a sandbox's orders | 7274306 | the worker that takes their next steps, alone | never |
| webhooks of the reseller | 7274307 | adding one, alone | yes |
| idempotency key | hash of key and customer | the request that uses the key, alone | never |
| failures of an IP address | hash of the address | counting a wrong credential, alone | yes |
| wrong passwords from an IP address | hash of the address | counting a password or a code before its check | yes |
| clients of agents from an IP address | hash of the address | registering a client, alone | yes |
| creations of a customer | 8, hash of the customer | creating an order or a quote: shared, near the cap alone | yes |

A transaction takes its advisory locks before it locks rows, first the idempotency key, and waits for one at most.
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
