"""Choosing a content coding (RFC 9110, section 12.5.3)."""

import pytest

from tradecounter.edge.rest.negotiation import accepts_coding, choose_coding


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("", "identity"),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("GZip", "gzip"),
        ("br", "br"),
        ("zstd", "zstd"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip, br;q=0.9", "gzip"),
        ("zstd;q=0.1, br;q=0.2, gzip;q=0.3", "gzip"),
        ("gzip ; q=0.5 , br ; Q=0.4", "gzip"),
        ("*", "gzip"),
        ("gzip, *", "gzip"),
        ("*, gzip;q=0.5", "gzip"),
        ("zstd, *", "zstd"),
        ("br;q=0.5, *", "gzip"),
        ("*;q=0.5, br", "br"),
        ("*, zstd;q=0", "gzip"),
        ("*, zstd;q=0, br;q=0, gzip;q=0", "identity"),
        ("*;q=0", "identity"),
        ("gzip;q=0", "identity"),
        ("gzip;q=0, *", "identity"),
        ("gzip;q=0, x-gzip", "gzip"),
        ("identity", "identity"),
        ("identity, gzip", "gzip"),
        ("identity, gzip;q=0.9", "identity"),
        ("identity;q=0.5, gzip;q=0.9", "gzip"),
        ("identity;q=0, gzip;q=0.1", "gzip"),
        ("identity;q=0", "identity"),
        ("identity;q=0, deflate", "identity"),
        ("deflate, compress", "identity"),
        ("gzip;q=much", "identity"),
        ("gzip;q=2", "gzip"),
        ("gzip;q=-1", "identity"),
        ("gzip;q=nan", "identity"),
        (",, ;q=1, =", "identity"),
        ("gzip;level=9", "gzip"),
    ],
)
def test_the_best_coding_that_the_client_takes_is_chosen(header: str, coding: str) -> None:
    assert choose_coding(header) == coding
    assert accepts_coding(header, coding)


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ("", {"identity"}),
        ("gzip", {"gzip", "identity"}),
        ("gzip, br;q=0", {"gzip", "identity"}),
        ("gzip, identity;q=0", {"gzip"}),
        ("gzip, *;q=0", {"gzip"}),
        ("*", {"zstd", "br", "gzip", "identity"}),
        ("*;q=0", {"identity"}),
        ("deflate", {"identity"}),
    ],
)
def test_what_a_client_takes_is_what_it_names_and_mostly_the_plain_body(header: str, taken: set[str]) -> None:
    assert {c for c in ("zstd", "br", "gzip", "identity", "deflate", "") if accepts_coding(header, c)} == taken
