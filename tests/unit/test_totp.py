import re
from datetime import UTC, datetime, timedelta

import pytest

from tradecounter.access.second_factor import (
    code_at,
    in_base32,
    matching_step,
    new_recovery_codes,
    recovery_hash,
    totp_uri,
)

SECRET = b"12345678901234567890"  # of the RFC's test vectors


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_rfc_6238(second: int, code: str) -> None:
    assert code_at(SECRET, second // 30) == code


def test_a_code_is_good_one_step_early_or_late_and_once() -> None:
    now = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)
    step = int(now.timestamp()) // 30
    code = code_at(SECRET, step)
    for shift, good in {-60: False, -30: True, 0: True, 29: True, 30: True, 60: False}.items():
        assert (matching_step(SECRET, code, now + timedelta(seconds=shift), 0) == step) is good, shift
    assert matching_step(SECRET, code, now, step) is None
    assert matching_step(SECRET, code_at(SECRET, step - 1), now, step) is None


def test_the_address_names_the_issuer_and_the_account() -> None:
    uri = totp_uri(SECRET, "Trade: Sons & Co", "sam@shop.example")
    assert uri == (
        "otpauth://totp/Trade%20%20Sons%20%26%20Co%3Asam@shop.example"
        f"?secret={in_base32(SECRET)}&issuer=Trade%20%20Sons%20%26%20Co&digits=6&period=30"
    )


def test_recovery_codes_have_128_bits_and_may_be_typed_in_any_way() -> None:
    codes = new_recovery_codes()
    assert len(set(codes)) == 10
    assert all(re.fullmatch(r"(?:[a-z2-7]{5}-){5}[a-z2-7]", code) for code in codes)
    typed = f" {codes[0].upper().replace('-', ' ')} "
    assert recovery_hash(typed) == recovery_hash(codes[0]) != recovery_hash(codes[1])
