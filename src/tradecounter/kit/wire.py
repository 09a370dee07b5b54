"""Field types that all slices use (specification, section 1), and structs that are made from others."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, TypeVar, cast

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from tradecounter.kit.clock import whole_second
from tradecounter.kit.numbers import Pounds
from tradecounter.kit.text import LONGEST_NAME

LocalDateTime = Annotated[
    str,
    Meta(
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$",
        description="UK local time without an offset.",
        examples=["2026-03-02T17:30:00"],
    ),
]
Moment = Annotated[datetime, Meta(tz=True)]  # in UTC; without `tz`, its schema would be any string
Amount = Annotated[Pounds, Meta(description="Pounds, two decimal places.", examples=[42.5])]
RequiredText = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME)]

Made = TypeVar("Made", bound=Struct)


def made_from(source: object, shape: type[Made], **others: Any) -> Made:
    """Return a struct whose fields are the attributes of an object with the same names, but for `others`.

    It takes some microseconds, several times as long as naming each field, as the customers' lists do.
    """
    same = {name: getattr(source, name) for name in shape.__struct_fields__ if name not in others}
    return shape(**same, **others)


class ReasonRequest(Struct):
    """Why something is done that needs nothing but a reason."""

    reason: str


class Timed:
    """Makes the times of a struct whole seconds in UTC, as the back office shows them: `2026-06-16T09:12:44Z`."""

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        """Cut the fractions of seconds, which the database keeps."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, datetime):
                force_setattr(cast("Struct", self), name, whole_second(value))
