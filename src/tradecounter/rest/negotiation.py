"""Choosing between CSV and JSON where an endpoint offers both (specification, section 1, content negotiation)."""

from typing import Literal, NamedTuple

Format = Literal["application/json", "text/csv"]

JSON: Format = "application/json"
CSV: Format = "text/csv"


class _Range(NamedTuple):
    type: str
    subtype: str
    quality: float


class _Match(NamedTuple):
    specificity: int
    quality: float
    position: int


def choose_format(accept: str | None, override: Format | None = None) -> Format:
    """Return the format for an `Accept` header; the query's `accept` overrides it.

    CSV serves a missing header, `*/*`, `text/html` and a header that accepts neither. Of equally good formats the
    one that is named first wins.
    """
    if override is not None:
        return override
    if not accept:
        return CSV
    ranges = [_parse(part) for part in accept.split(",") if part.strip()]
    csv = _best([("text", "csv"), ("text", "html")], ranges)
    json = _best([("application", "json")], ranges)
    if json is None or json.quality == 0:
        return CSV
    if csv is None or csv.quality < json.quality:
        return JSON
    return JSON if csv.quality == json.quality and json.position < csv.position else CSV


def _parse(part: str) -> _Range:
    media, *parameters = (piece.strip().lower() for piece in part.split(";"))
    kind, _, subtype = media.partition("/")
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            quality = _quality(value.strip())
    return _Range(kind, subtype, quality)


def _quality(text: str) -> float:
    try:
        value = float(text)  # a weight, not money
    except ValueError:
        return 0.0
    return min(max(value, 0.0), 1.0) if value == value else 0.0  # noqa: PLR0124 only NaN differs from itself


def _best(names: list[tuple[str, str]], ranges: list[_Range]) -> _Match | None:
    """Return the most specific range that covers one of the names; of equally specific ones the best."""
    matches = [
        _Match(specificity, found.quality, -position)
        for position, found in enumerate(ranges)
        for name in names
        if (specificity := _specificity(found, name)) is not None
    ]
    if not matches:
        return None
    specificity, quality, position = max(matches)
    return _Match(specificity, quality, -position)


def _specificity(found: _Range, name: tuple[str, str]) -> int | None:
    if (found.type, found.subtype) == name:
        return 2
    if found.type == name[0] and found.subtype == "*":
        return 1
    return 0 if (found.type, found.subtype) == ("*", "*") else None
