"""A national distributor's day: how many requests of each kind, and when."""

from collections.abc import Mapping
from dataclasses import dataclass

HOURS = range(24)
HOUR_SECONDS = 3600
PRODUCTS = 20_000
CUSTOMERS = 5_000
FEED_READERS = 1_000  # read a feed every hour
POLLERS = CUSTOMERS - FEED_READERS
POLL_SECONDS = 300  # a program asks for its page every five minutes

# The share of each hour of the UK day. Programs ask at all hours; people search and order at work.
_STEADY = (1.0,) * 24
_WORK = (1, 0.5, 0.5, 0.5, 1, 2, 5, 20, 60, 95, 100, 95, 70, 75, 90, 100, 95, 70, 25, 12, 8, 6, 4, 2)
_WAREHOUSE = (0, 0, 0, 0, 0, 0, 5, 30, 40, 50, 60, 60, 50, 70, 90, 100, 100, 80, 20, 0, 0, 0, 0, 0)
_FINANCE = (0, 0, 0, 0, 0, 0, 0, 0, 40, 100, 100, 80, 40, 60, 80, 100, 100, 60, 0, 0, 0, 0, 0, 0)
_STORM = (0, 0, 0, 0, 5, 15, 25, 20, 5, 3, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 2, 0, 0)  # files arrive before work


@dataclass(frozen=True, slots=True)
class KindOfWork:
    """One kind of work: how often in a day, its shares of the hours, and how much of an hour comes in its first minute.

    A minute has 1/60 of its hour when `burst` is that; `deadline` is the p99 in seconds that it has to keep.
    """

    name: str
    what: str
    daily: int
    shape: tuple[float, ...]
    deadline: float
    burst: float = 1 / 60

    def rate(self, hour: int) -> float:
        """Return the mean requests a second of an hour."""
        return self.daily * self.shape[hour] / sum(self.shape) / HOUR_SECONDS

    def rate_in_burst(self, hour: int) -> float:
        """Return the requests a second of the hour's first minute."""
        return self.rate(hour) * self.burst * 60

    def rate_after_burst(self, hour: int) -> float:
        """Return the requests a second of the hour's other minutes."""
        return self.rate(hour) * (1 - self.burst) * 60 / 59


READ_SECONDS, WRITE_SECONDS, STEP_SECONDS = 0.5, 1.0, 1.0
POLL, FEED, SEARCH, PRODUCT, LOOK = "poll", "feed", "search", "product", "look"
ORDER, CONFIRM, DISPATCH, INVOICE, PAYMENT = "order", "confirm", "dispatch", "invoice", "payment"
STOCK, PRICES, NEW_PRODUCTS, WEBHOOK = "stock import", "price import", "product import", "webhook"

_CRON = 6 / 60  # programs that start on the hour: a tenth of its requests in the first minute
_ALL = (
    KindOfWork(
        POLL,
        "`GET /product?limit=100` with `If-None-Match`",
        POLLERS * 86_400 // POLL_SECONDS,
        _STEADY,
        READ_SECONDS,
        _CRON,
    ),
    KindOfWork(FEED, "`GET /feed/….csv`, the whole catalogue", FEED_READERS * 24, _STEADY, 10.0, 0.5),
    KindOfWork(SEARCH, "`GET /product?query=…`, two words", 500_000, _WORK, READ_SECONDS),
    KindOfWork(PRODUCT, "`GET /product/{sku}`", 250_000, _WORK, READ_SECONDS),
    KindOfWork(ORDER, "`POST /order`, three lines", 50_000, _WORK, WRITE_SECONDS, _CRON),
    KindOfWork(CONFIRM, "`PUT /order/{code}`", 50_000, _WORK, WRITE_SECONDS, _CRON),
    KindOfWork(LOOK, "`GET /order/{reference}`", 150_000, _WORK, READ_SECONDS),
    KindOfWork(DISPATCH, "`POST /api/order/{reference}/dispatch`", 50_000, _WAREHOUSE, STEP_SECONDS),
    KindOfWork(INVOICE, "`POST /api/order/{reference}/invoice`", 50_000, _WAREHOUSE, STEP_SECONDS),
    KindOfWork(PAYMENT, "`POST /api/payment`", 50_000, _FINANCE, STEP_SECONDS),
    KindOfWork(STOCK, "`POST /api/import/stock`, 20,000 rows, each changed", 60, _STORM, 30.0),
    KindOfWork(PRICES, "`POST /api/import/price-list`, 20,000 rows, each changed", 30, _STORM, 30.0),
    KindOfWork(NEW_PRODUCTS, "`POST /api/import/products`, 2,000 rows, each changed", 10, _STORM, 30.0),
    KindOfWork(WEBHOOK, "one delivery", 200_000, _WORK, 30.0),
)
KINDS: Mapping[str, KindOfWork] = {kind.name: kind for kind in _ALL}
IMPORTS = (STOCK, PRICES, NEW_PRODUCTS)
STORY = (ORDER, CONFIRM, DISPATCH, INVOICE, PAYMENT)
DELIVERED = (CONFIRM, DISPATCH, INVOICE, PAYMENT)  # each has an event that is posted to the reseller's webhook

Rates = dict[str, float]


def rates_of(hour: int, scale: float = 1.0) -> Rates:
    """Return the mean rates of an hour, a second; a webhook follows each step of an order that has an event."""
    return _scaled({name: kind.rate(hour) for name, kind in KINDS.items()}, scale)


def burst_of(hour: int, scale: float = 1.0) -> Rates:
    """Return the rates of the first minute of an hour."""
    return _scaled({name: kind.rate_in_burst(hour) for name, kind in KINDS.items()}, scale)


def rest_of(hour: int, scale: float = 1.0) -> Rates:
    """Return the rates of the other minutes of an hour."""
    return _scaled({name: kind.rate_after_burst(hour) for name, kind in KINDS.items()}, scale)


def _scaled(rates: Rates, scale: float) -> Rates:
    followed = rates | {WEBHOOK: sum(rates[name] for name in DELIVERED)}
    return {name: rate * scale for name, rate in followed.items()}
