"""Passwords, guesses and hashes."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from tradecounter.access.passwords import hash_password, is_right
from tradecounter.access.rules import FREE_GUESSES, PAUSE, Guesses, check_password
from tradecounter.kit.errors import DomainError

NOW = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)
NAMES = ("ada.example@shop.example", "Ada Example")


@pytest.mark.parametrize(
    "password", ["correct horse battery", "Tr4vel-by-night!", "Ada Example likes tea", "é" * 3 + "abcdefghi!"]
)
def test_long_and_uncommon_passwords_are_accepted(password: str) -> None:
    check_password(password, NAMES)


@pytest.mark.parametrize(
    ("password", "problem"),
    [
        ("short-pass!", "must have 12 to 200 characters"),
        ("x" * 201, "must have 12 to 200 characters"),
        ("password1234", "is too common"),
        ("Summer-2026-2027", "is too common"),
        ("ababababababab", "is too common"),
        ("Ada Example12", "must not be your name or address"),
        ("ada.example@shop.example", "must not be your name or address"),
    ],
)
def test_short_common_and_own_words_are_rejected(password: str, problem: str) -> None:
    with pytest.raises(DomainError, match=problem):
        check_password(password, NAMES)


def test_a_pair_and_an_address_that_guessed_wait_and_only_for_a_while() -> None:
    just_now = NOW - timedelta(seconds=10)
    assert Guesses(FREE_GUESSES - 1, FREE_GUESSES - 1, just_now, just_now).wait(NOW) == timedelta(0)
    assert Guesses(FREE_GUESSES, 1, just_now, just_now).wait(NOW) == timedelta(seconds=20)
    assert Guesses(FREE_GUESSES, 1, just_now, just_now).address_wait(NOW) == timedelta(0)
    assert Guesses(0, FREE_GUESSES, None, just_now).wait(NOW) == timedelta(seconds=20), "whatever the account"
    assert Guesses(FREE_GUESSES, FREE_GUESSES, NOW - PAUSE, NOW - PAUSE).wait(NOW) == timedelta(0)
    assert Guesses(1000, 0, None, None).wait(NOW) == timedelta(0), "strangers lock nobody out"
    assert Guesses(1000, 9, None, just_now).wait(NOW) == timedelta(0)


def test_a_password_fits_its_own_hash_only() -> None:
    async def check() -> list[bool]:
        stored = await hash_password("correct horse battery")
        assert "correct" not in stored
        return [
            await is_right("correct horse battery", stored),
            await is_right("correct horse batterz", stored),
            await is_right("correct horse battery", None),
            await is_right("correct horse battery", "not a hash"),
        ]

    assert asyncio.run(check()) == [True, False, False, False]
