"""Chooses a response's content coding by `Accept-Encoding` (RFC 9110, section 12.5.3)."""

from functools import lru_cache
from typing import Literal

from starlette.types import Scope

from tradecounter.edge.rest.negotiation import weight_of

Coding = Literal["zstd", "br", "gzip", "identity"]

IDENTITY: Coding = "identity"
COMPRESSING: tuple[Coding, ...] = ("zstd", "br", "gzip")  # by preference, if a client weights them equally
SMALLEST_COMPRESSED = 512  # bytes; below, compression saves too little to matter

_ANY: Coding = "gzip"  # what every client that takes any coding can read
_ALIASES = {"x-gzip": "gzip"}


def accepted_codings(scope: Scope) -> str:
    """Return the values of all `Accept-Encoding` headers of a request; empty without one."""
    return ", ".join([value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-encoding"])


def choose_coding(accept_encoding: str) -> Coding:
    """Return the coding for an `Accept-Encoding` header; identity if it accepts none of ours.

    `*` chooses only gzip: some programs copy it from a client's library, and know neither zstd nor br.
    """
    weights = _weights(accept_encoding)
    chosen = {_ANY: weights.get("*", 0.0), **weights}
    best = max(COMPRESSING, key=lambda coding: chosen.get(coding, 0.0))
    quality = chosen.get(best, 0.0)
    return best if quality > 0 and quality >= weights.get(IDENTITY, 0.0) else IDENTITY


def accepts_coding(accept_encoding: str, coding: str) -> bool:
    """Return whether an `Accept-Encoding` header accepts one of our codings."""
    if coding == choose_coding(accept_encoding):
        return True
    weights = _weights(accept_encoding)
    if coding == IDENTITY:
        return weights.get(IDENTITY, weights.get("*", 1.0)) > 0
    return coding in COMPRESSING and _weight_of(coding, weights) > 0


def _weight_of(coding: str, weights: dict[str, float]) -> float:
    return weights.get(coding, weights.get("*", 0.0))


@lru_cache(maxsize=64)
def _weights(accept_encoding: str) -> dict[str, float]:
    """Return the weight of each coding in the header; a repeated coding has its largest weight."""
    weights: dict[str, float] = {}
    for part in accept_encoding.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        if name:
            coding = _ALIASES.get(name, name)
            weights[coding] = max(weight_of(parameters), weights.get(coding, 0.0))
    return weights
