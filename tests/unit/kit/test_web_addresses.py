"""Web addresses: plain ones are read, and those that programs read in different ways are rejected."""

from ipaddress import IPv4Address, IPv6Address

import pytest

from tradecounter.kit.web_addresses import NotAWebAddressError, host_of


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://shop.example/p/corvane?x=1#top", "shop.example"),
        ("HTTP://Shop.Example:8443", "shop.example"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://shop.example/ü/a%20b", "shop.example"),
        ("http://localhost:8000", "localhost"),
        ("https://a_b.internal", "a_b.internal"),
        ("https://8.8.8.8/", IPv4Address("8.8.8.8")),
        ("https://[2001:db8::1]:443/", IPv6Address("2001:db8::1")),
        ("https://①②⑦.0.0.1/", IPv4Address("127.0.0.1")),  # as browsers read it
    ],
)
def test_plain_addresses_are_read(text: str, host: str | IPv4Address | IPv6Address) -> None:
    assert host_of(text) == host


@pytest.mark.parametrize(
    "text",
    [
        "", "shop.example", "//shop.example", "https:/shop.example", "https:shop.example", "https://", "https:///x",
        "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "ftp://shop.example", "gopher://shop.example",
        "https://user@shop.example", "https://user:word@shop.example", "https://@shop.example", "https://shop.example@x",
        "https://shop.example:0/", "https://shop.example:65536/", "https://shop.example:", "https://shop.example:80:90",
        "https://shop.example:٤٤", "https://shop.example./", "https://localhost./", "https://.example", "https://a..b",
        "https://-a.example", "https://shop.example\\@evil.example", "https:\\\\shop.example", "https://shop example/",
        " https://shop.example", "https://shop.example\n", "https://shop.example/\ta", "https://shop.example/\u200b",
        "https://shop.example/a\xa0b", "https://shop%2eexample/", "https://%31%32%37.0.0.1/", "https://2130706433/",
        "https://0x7f.1", "https://0x7f000001", "https://127.1", "https://0177.0.0.1", "https://127.0.0.1.",
        "https://256.1.1.1", "https://1.2.3.4.5", "https://shop.1", "https://0x", "https://[::1", "https://[::1%25lo]",
        "https://[fe80::1%eth0]", "https://[1.2.3.4]", "https://a[::1]", "https://" + "a" * 64 + ".example",
        "https://shop.example/" + "a" * 2000, "https://①②⑦.1",
    ],
)  # fmt: skip
def test_other_texts_are_rejected(text: str) -> None:
    with pytest.raises(NotAWebAddressError):
        host_of(text)
