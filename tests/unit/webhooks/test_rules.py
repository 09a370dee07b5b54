"""Which URLs webhooks may have, and when they are tried again."""

from datetime import UTC, datetime, timedelta

import pytest

from tradecounter.kit.errors import DomainError
from tradecounter.webhooks.rules import check_url, retry_after, wait_before_retry

NOW = datetime(2026, 6, 16, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    "url",
    [
        "", "erp.example", "//erp.example", "http://erp.example", "https://", "https://[::1", "https://erp.example:port/",
        "https://u@erp.example/", "https://erp.example/#part", "https://erp.example/a b", "https://erp.example/\r\nX:",
        "https://erp.example/" + "a" * 2000, "https://b\u00fccher.example/", "https://[::ffff:127.0.0.1]/",
        "https://" + "a" * 64 + ".example/",
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_used_is_rejected(url: str) -> None:
    with pytest.raises(DomainError, match="url: "):
        check_url(url, (), allow_http=False)


def test_the_wait_grows_and_the_last_one_repeats() -> None:
    hours = [wait_before_retry(retries, 0) / timedelta(hours=1) for retries in range(3, 12)]
    assert hours == [2, 5, 10, 14, 20, 24, 24, 24, 24]
    seconds = [
        wait_before_retry(retries, drawn).total_seconds() for retries, drawn in [(0, -1), (0, 1), (1, 0), (2, 0)]
    ]
    assert seconds == [4, 6, 300, 1800]


def test_what_the_receiver_asks_for_counts_if_it_is_longer() -> None:
    waits = [wait_before_retry(1, 0, timedelta(**{unit: 1})) for unit in ("seconds", "hours", "weeks")]
    assert waits == [timedelta(minutes=5), timedelta(hours=1), timedelta(hours=24)]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("", None), ("soon", None), ("-5", None), ("120", 120), ("9" * 30, 10**9),
        ("Tue, 16 Jun 2026 08:02:00 GMT", 120), ("Tue, 16 Jun 2026 08:02:00", None),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date(header: str | None, seconds: int | None) -> None:
    assert retry_after(header, NOW) == (None if seconds is None else timedelta(seconds=seconds))
