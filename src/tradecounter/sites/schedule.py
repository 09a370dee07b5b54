"""The scheduled jobs: what the worker does every few seconds, minutes or each night."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from msgspec import Struct

from tradecounter.access.jobs import clean_up_access
from tradecounter.agents.consents import clean_up_agents
from tradecounter.alerts.tell_users import tell_of_due_invoices, tell_of_prices, tell_of_stock
from tradecounter.billing.debtors import remind_of_invoices
from tradecounter.consent.authorize import clean_up_consent
from tradecounter.customers.queries.addresses import delete_old_addresses
from tradecounter.db.idempotency import forget_keys
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction
from tradecounter.identity.clean_up import clean_up_identity
from tradecounter.imports.run import forget_changes
from tradecounter.kit.setting_rules import comma_separated
from tradecounter.orders.announce_changes import announce_changes
from tradecounter.orders.cancel_order import expire_orders
from tradecounter.orders.queries.changes import delete_expired_orders
from tradecounter.orders.serve_back_orders import update_expected_dates
from tradecounter.quotes.handle_quotes import remind_of_quotes
from tradecounter.request_log.recorder import forget_old_requests
from tradecounter.sandbox.live import Life, live_on
from tradecounter.sandbox.refresh import refresh_sandbox
from tradecounter.sandbox.steps import reseller_from
from tradecounter.settings import Settings
from tradecounter.storefront.changes.journal import forget_catalogue_changes
from tradecounter.webhooks.queries.deliveries import forget_deliveries
from tradecounter.webhooks.rules import DELIVERIES_KEPT_FOR

# Cron expressions are in UTC. A run that a stopped worker missed is skipped.
EVERY_MINUTE = "* * * * *"
EVERY_FIVE_SECONDS = "* * * * * */5"
EVERY_NIGHT = "17 2 * * *"
EVERY_FIVE_MINUTES = "*/5 * * * *"

BATCH = 500  # orders, addresses or keys per transaction of a retention job
MOST_BATCHES = 20  # per minute and retention job: about a second of work, so that a stop is not delayed


class PeriodicJob(Struct, frozen=True):
    """A scheduled job; `work` returns the number of handled items.

    `work` runs up to `batches` times, each time in a new transaction, until it returns 0.
    """

    name: str
    cron: str
    work: Callable[[Transaction, datetime], Awaitable[int]]
    done: str = ""  # log event; not logged if no item was handled
    batches: int = 1


def periodic_jobs(settings: Settings) -> tuple[PeriodicJob, ...]:
    """Return the scheduled jobs."""
    keep_orders, keep_addresses = settings.keep_expired_orders, settings.keep_deleted_addresses
    stages = [int(day) for day in comma_separated(settings.reminder_days)]
    return (
        PeriodicJob("expire_orders", EVERY_MINUTE, expire_orders, "pending orders expired", batches=MOST_BATCHES),
        PeriodicJob(
            "remind_of_invoices",
            EVERY_FIVE_MINUTES,
            lambda tx, now: remind_of_invoices(tx, now, stages),
            "customers reminded of invoices",
        ),
        PeriodicJob("remind_of_quotes", EVERY_FIVE_MINUTES, remind_of_quotes, "customers reminded of quotes"),
        PeriodicJob(
            "update_expected_dates", EVERY_MINUTE, update_expected_dates, "expected dates changed", batches=MOST_BATCHES
        ),
        PeriodicJob("announce_changes", EVERY_MINUTE, announce_changes),
        PeriodicJob("tell_of_stock", EVERY_MINUTE, tell_of_stock, "users told of stock", batches=MOST_BATCHES),
        PeriodicJob("tell_of_due_invoices", EVERY_FIVE_MINUTES, tell_of_due_invoices, "users told of due invoices"),
        PeriodicJob(
            "tell_of_prices", EVERY_FIVE_MINUTES, tell_of_prices, "lists looked at for prices", batches=MOST_BATCHES
        ),
        PeriodicJob("clean_up_identity", EVERY_FIVE_MINUTES, clean_up_identity, "old tokens and counts deleted"),
        PeriodicJob(
            "clean_up_access", EVERY_FIVE_MINUTES, clean_up_access, "old links, sessions and wrong passwords deleted"
        ),
        PeriodicJob("clean_up_consent", EVERY_FIVE_MINUTES, clean_up_consent, "old grants and keys deleted"),
        PeriodicJob("clean_up_agents", EVERY_FIVE_MINUTES, clean_up_agents, "old agents and their tokens deleted"),
        PeriodicJob(
            "forget_import_changes",
            EVERY_FIVE_MINUTES,
            forget_changes,
            "changes of old imports deleted",
            batches=MOST_BATCHES,
        ),
        PeriodicJob(
            "forget_catalogue_changes",
            EVERY_FIVE_MINUTES,
            lambda tx, now: forget_catalogue_changes(tx, now, settings.keep_changes),
            "old changes of the catalogue deleted",
        ),
        _retention("delete_expired_orders", keep_orders, delete_expired_orders, "expired orders deleted permanently"),
        _retention(
            "delete_old_addresses", keep_addresses, delete_old_addresses, "deleted addresses deleted permanently"
        ),
        _retention("forget_deliveries", DELIVERIES_KEPT_FOR, forget_deliveries, "old webhook deliveries deleted"),
        PeriodicJob(
            "forget_requests",
            EVERY_MINUTE,
            forget_old_requests,
            "entries of the request log deleted",
            batches=MOST_BATCHES,
        ),
        _retention("forget_keys", settings.keep_idempotent_responses, forget_keys, "idempotency keys deleted"),
    )


def sandbox_jobs(settings: Settings, database: Database) -> tuple[PeriodicJob, ...]:
    """Return the scheduled jobs of a sandbox; none elsewhere."""
    if not settings.sandbox:
        return ()
    life = Life(settings.sandbox_pace, reseller_from(settings))

    async def live(tx: Transaction, now: datetime) -> int:
        return await live_on(tx, database, life, now)

    async def refresh(tx: Transaction, now: datetime) -> int:
        source = settings.sandbox_source
        return 0 if source is None else sum((await refresh_sandbox(tx, source, now)).values())

    return (
        PeriodicJob("sandbox_live", EVERY_FIVE_SECONDS, live),
        PeriodicJob("sandbox_refresh", EVERY_NIGHT, refresh, "rows of the live database copied"),
    )


def _retention(
    name: str, keep: timedelta | None, delete: Callable[[Transaction, datetime, int], Awaitable[int]], done: str
) -> PeriodicJob:
    """Return a job that deletes data older than `keep`, or deletes nothing if `keep` is None."""

    async def work(tx: Transaction, now: datetime) -> int:
        return 0 if keep is None else await delete(tx, now - keep, BATCH)

    return PeriodicJob(name, EVERY_MINUTE, work, done, batches=MOST_BATCHES)
