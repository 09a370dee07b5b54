"""Which addresses webhooks may reach, and when they are tried again."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network

import pytest

from tradecounter.kit.errors import DomainError
from tradecounter.webhooks.rules import check_url, is_allowed, retry_after, wait_before_retry

NOW = datetime(2026, 6, 16, 8, tzinfo=UTC)
PUBLIC = ["93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2002:5db8:d822::1"]
NOT_PUBLIC = [
    "127.0.0.1", "127.9.9.9", "0.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "100.100.100.200", "192.0.0.192", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "168.63.129.16", "::", "::1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1",
    "ff02::1", "2001:db8::1", "2001:0:53aa:64c::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::a00:1", "2002:7f00:1::1", "2002:a9fe:a9fe::",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address: str) -> None:
    assert is_allowed(ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_other_addresses_are_not(address: str) -> None:
    assert not is_allowed(ip_address(address))


def test_the_operators_networks_are_allowed_however_they_are_written() -> None:
    networks = [ip_network("10.0.0.0/8"), ip_network("fd00::/8")]
    allowed = ["10.1.2.3", "::ffff:10.1.2.3", "64:ff9b::a01:203", "fd00::1"]
    assert all(is_allowed(ip_address(address), networks) for address in allowed)
    assert not is_allowed(ip_address("192.168.0.1"), networks)


@pytest.mark.parametrize(
    "url",
    [
        "", "erp.example", "//erp.example", "http://erp.example", "https://", "https://[::1", "https://erp.example:port/",
        "https://u@erp.example/", "https://erp.example/#part", "https://erp.example/a b", "https://erp.example/\r\nX:",
        "https://erp.example/" + "a" * 2000, "https://b\u00fccher.example/", "https://[::ffff:127.0.0.1]/",
        "https://" + "a" * 64 + ".example/",
    ],
)  # fmt: skip
def test_a_url_that_cannot_be_used_is_refused(url: str) -> None:
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
