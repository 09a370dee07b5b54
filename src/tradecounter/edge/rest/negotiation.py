"""Chooses a response's format by `Accept` and its content coding by `Accept-Encoding` (RFC 9110, section 12.5)."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Annotated, Literal, NamedTuple

from msgspec import Meta
from starlette.types import Scope

Format = Literal["application/json", "text/csv"]

Accept = Annotated[
    Format | None,
    Meta(description="The format of the response; it overrides the `Accept` header.", examples=["application/json"]),
]

JSON: Format = "application/json"
CSV: Format = "text/csv"
PDF = "application/pdf"
ZIP = "application/zip"


class _Range(NamedTuple):
    type: str
    subtype: str
    quality: float


class _Match(NamedTuple):
    """A format's rank: quality, then place in the header (0 first, -1 second)."""

    quality: float
    place: int


_NAMED = 2


@lru_cache(maxsize=64)
def choose_format(accept: str | None, override: Format | None = None) -> Format:
    """Return the format for an `Accept` header, which the query's `accept` overrides.

    A missing header, `*/*`, `text/html` and a header that accepts neither format get CSV. Of formats with equal
    weights, the first wins.
    """
    if override is not None:
        return override
    ranges = _ranges(accept)
    json = _match("application", "json", ranges)
    if json is None or json.quality == 0:
        return CSV
    csv = (_match("text", "csv", ranges), _match("text", "html", ranges, least=_NAMED))
    return CSV if any(match is not None and match >= json for match in csv) else JSON


def choose_named(accept: str | None, offered: Collection[str]) -> str:
    """Return JSON, unless an `Accept` header names a format of `offered` and prefers it: by weight, else by place."""
    ranges = _ranges(accept)
    matches = {media: _match(*_names(media), ranges, least=_NAMED) for media in offered}
    acceptable = {media: match for media, match in matches.items() if match is not None and match.quality > 0}
    json = _match("application", "json", ranges)
    if not acceptable or (json is not None and json.quality > 0 and json >= max(acceptable.values())):
        return JSON
    return max(acceptable, key=lambda media: acceptable[media])


def attachment(accept: str | None, media: str, name: str) -> dict[str, str]:
    """Return the `Content-Disposition` header for CSV, only for browsers, which accept `text/html`."""
    html = _match("text", "html", _ranges(accept), least=_NAMED)
    if media != CSV or html is None or html.quality == 0:
        return {}
    return {"Content-Disposition": f'attachment; filename="{name}.csv"'}


def _names(media: str) -> tuple[str, str]:
    kind, _, subtype = media.partition("/")
    return kind, subtype


def _ranges(accept: str | None) -> list[_Range]:
    return [_parse(part) for part in (accept or "").split(",") if part.strip()]


def _parse(part: str) -> _Range:
    media, *parameters = (piece.strip().lower() for piece in part.split(";"))
    return _Range(*_names(media), _weight_in(parameters))


def _weight_in(parameters: Iterable[str]) -> float:
    """Return the last weight in the parameters (RFC 9110, section 12.4.2): by default 1, or 0 if it is invalid."""
    pairs = (parameter.partition("=") for parameter in parameters)
    weights = [_parsed_weight(value.strip()) for name, _, value in pairs if name.strip() == "q"]
    return weights[-1] if weights else 1.0


def _parsed_weight(text: str) -> float:
    try:
        value = float(text)  # a weight, not money
    except ValueError:
        return 0.0
    return min(max(value, 0.0), 1.0) if value == value else 0.0  # noqa: PLR0124 only NaN differs from itself


def _match(kind: str, subtype: str, ranges: Sequence[_Range], *, least: int = 0) -> _Match | None:
    """Return the match of the most specific range for a media type; the best of equally specific ones."""
    matches = [
        (specificity, _Match(found.quality, -position))
        for position, found in enumerate(ranges)
        if (specificity := _specificity(found, kind, subtype)) >= least
    ]
    return max(matches)[1] if matches else None


def _specificity(accepted: _Range, kind: str, subtype: str) -> int:
    if (accepted.type, accepted.subtype) == (kind, subtype):
        return _NAMED
    if (accepted.type, accepted.subtype) == (kind, "*"):
        return 1
    return 0 if (accepted.type, accepted.subtype) == ("*", "*") else -1


Coding = Literal["zstd", "br", "gzip", "identity"]

IDENTITY: Coding = "identity"
COMPRESSING: tuple[Coding, ...] = ("zstd", "br", "gzip")  # by preference, if a client weights them equally
SMALLEST_COMPRESSED = 512  # bytes; below, compression saves too little to matter

_ANY_CODING: Coding = "gzip"  # what every client that takes any coding can read
_ALIASES = {"x-gzip": "gzip"}


def accepted_codings(scope: Scope) -> str:
    """Return the values of all `Accept-Encoding` headers of a request; empty without one."""
    return ", ".join([value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-encoding"])


def choose_coding(accept_encoding: str) -> Coding:
    """Return the coding for an `Accept-Encoding` header; identity if it accepts none of ours.

    `*` chooses only gzip: some programs copy it from a client's library, and know neither zstd nor br.
    """
    weights = _coding_weights(accept_encoding)
    chosen = {_ANY_CODING: weights.get("*", 0.0), **weights}
    best = max(COMPRESSING, key=lambda coding: chosen.get(coding, 0.0))
    quality = chosen.get(best, 0.0)
    return best if quality > 0 and quality >= weights.get(IDENTITY, 0.0) else IDENTITY


def accepts_coding(accept_encoding: str, coding: str) -> bool:
    """Return whether an `Accept-Encoding` header accepts one of our codings."""
    if coding == choose_coding(accept_encoding):
        return True
    weights = _coding_weights(accept_encoding)
    if coding == IDENTITY:
        return weights.get(IDENTITY, weights.get("*", 1.0)) > 0
    return coding in COMPRESSING and weights.get(coding, weights.get("*", 0.0)) > 0


@lru_cache(maxsize=64)
def _coding_weights(accept_encoding: str) -> dict[str, float]:
    """Return the weight of each coding in the header; a repeated coding has its largest weight."""
    weights: dict[str, float] = {}
    for part in accept_encoding.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if name:
            coding = _ALIASES.get(name, name)
            weights[coding] = max(_weight_in(parameters), weights.get(coding, 0.0))
    return weights
