"""What all models have in common, and how JSON becomes models."""

from typing import Any, TypeVar

import msgspec

Made = TypeVar("Made")


class Model(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A value of the API: fields without a value are None, and are not sent."""


_encoder = msgspec.json.Encoder(decimal_format="number")


def to_json(value: Any) -> bytes:
    """JSON of a model, in which decimal numbers are numbers."""
    return _encoder.encode(value)


def from_json(body: bytes, kind: type[Made]) -> Made:
    """A model of JSON; raises msgspec.MsgspecError where the JSON is none. Unknown fields are ignored."""
    return msgspec.json.decode(body, type=kind)
