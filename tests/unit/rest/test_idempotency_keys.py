"""Which idempotency keys are good, and which requests are the same one (specification, idempotency)."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.edge.rest.idempotency import fingerprint, read_key
from tradecounter.kit.errors import DomainError, Kind

# Numbers that Python's own JSON writes exactly, so that spelling them otherwise does not change them.
_scalars = st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text()
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=6
)


def of(text: str | bytes, method: str = "POST", path: str = "/order") -> bytes:
    return fingerprint(method, path, text.encode() if isinstance(text, str) else text)


def spelled(value: Any, data: st.DataObject) -> str:
    """A JSON text for a value, with white space, escapes and an order of keys of its own."""
    space = data.draw(st.sampled_from(["", " ", "\n\t"]))
    if isinstance(value, dict):
        pairs = data.draw(st.permutations(list(value.items())))
        inner = ("," + space).join(f"{spelled(k, data)}{space}:{space}{spelled(v, data)}" for k, v in pairs)
        return "{" + space + inner + space + "}"
    if isinstance(value, list):
        return "[" + space + ("," + space).join(spelled(part, data) for part in value) + space + "]"
    if isinstance(value, int) and not isinstance(value, bool):
        return data.draw(st.sampled_from([str(value), f"{value}.0", f"{value}.000", f"{value}e0", f"{value * 10}E-1"]))
    return json.dumps(value, ensure_ascii=data.draw(st.booleans()))


@given(_values, st.data())
def test_however_a_body_is_spelled_its_fingerprint_is_the_same(value: Any, data: st.DataObject) -> None:
    assert of(spelled(value, data)) == of(json.dumps(value))


@given(_values, _values)
def test_different_bodies_have_different_fingerprints(one: Any, other: Any) -> None:
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (of(json.dumps(one)) == of(json.dumps(other))) == same


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6), st.decimals(-(10**9), 10**9, places=6))
def test_fractions_count_by_their_exact_value(one: Decimal, other: Decimal) -> None:
    assert (of(str(one)) == of(str(other))) == (one == other)
    assert of(f"{other:f}") == of(f"{other:e}") == of(f"{other}000")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": null}', "{}"),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"a": 0.1}', '{"a": 0.10000000000000000000000000000000001}'),
        ('{"a": 12345678901234567890123}', '{"a": 12345678901234567890124}'),
        ('{"a": 1e400}', '{"a": 1e401}'),
        ('{"a": "x"}', '{"A": "x"}'),
        ('{"a": "é"}', '{"a": "e\u0301"}'),
        ('"1E+400"', "1e400"),
    ],
)
def test_what_means_something_else_has_another_fingerprint(one: str, other: str) -> None:
    assert of(one) != of(other)


@pytest.mark.parametrize(("one", "other"), [("-0", "0"), ("-0.0", "0"), ("0e9", "0"), ('{"a":1,"a":2}', '{"a":2}')])
def test_what_means_the_same_has_the_same_fingerprint(one: str, other: str) -> None:
    assert of(one) == of(other)


@pytest.mark.spec("8 Idempotency key", "for the account and the identical method, path and body")
def test_method_and_path_are_part_of_the_fingerprint() -> None:
    assert len({of("{}"), of("{}", path="/quote"), of("{}", method="PUT")}) == 3


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"nope", b"NaN", b'{"a": Infinity}', b'"\\ud800"', b"[" * 100_000, b"9" * 5000, b"1e" + b"9" * 30],
)
def test_a_body_that_cannot_be_read_is_rejected(body: bytes) -> None:
    with pytest.raises(DomainError) as raised:
        of(body)
    assert raised.value.kind is Kind.INVALID


def test_without_the_header_there_is_no_key() -> None:
    assert read_key([]) is None


@pytest.mark.parametrize("key", ["k", "a" * 255, "7f6b0c9e-1d2a", '"quoted"', "with spaces, and: more~"])
def test_a_key_is_taken_as_it_is(key: str) -> None:
    assert read_key([key]) == key
    assert read_key([key, key]) == key
    assert read_key([f" {key}\t"]) == key


@pytest.mark.parametrize(
    "values", [[""], [" "], ["a" * 256], ["a\tb"], ["\x7f"], ["clé"], ["a", "b"], ["", "a"], ["a\n"]]
)
def test_a_bad_key_is_rejected_naming_the_header(values: list[str]) -> None:
    with pytest.raises(DomainError) as raised:
        read_key(values)
    assert raised.value.kind is Kind.INVALID
    assert raised.value.message.startswith("Idempotency-Key: ")
