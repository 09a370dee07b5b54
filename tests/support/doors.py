"""A wrong value as it is sent to the doors of a use case: the API of the back office, a page and a command."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.service import Customer, Service

Body = dict[str, Any]

ITEM, CUSTOMER, SKU = (
    "ITEM",
    "CUSTOMER",
    "SKU",
)  # stand for `About.item`, the customer's id, and the first of `About.words`
REASON = "1000 characters"
LONG_REASON = "x" * 1_001


@dataclass(frozen=True)
class Door:
    """What is sent to a door, and the name that the fault has there; a command may read the `file` as `-`."""

    sent: Any
    named: str
    file: Body | str = ""


@dataclass(frozen=True)
class About:
    """What a step is of: an order, a quote, a customer …

    `path` is that of the API, and of the page without `page`, whose form is `form`. Pages at `/account` are sent by an
    owner of the customer, others by an administrator. Commands begin with `words`; `item` is the id of a line.
    """

    path: str
    words: list[str] = field(default_factory=list)
    item: int = 0
    page: str = ""
    form: str = "form"


@dataclass(frozen=True)
class Case:
    """One fault of the step `step`. `of` makes what it is about."""

    message: str
    of: Callable[[Service, Customer], About]
    step: str
    api: Door | None
    page: Door | None
    command: Door | None = None
    method: str = "POST"  # of the API


def same(
    message: str,
    of: Callable[[Service, Customer], About],
    step: str,
    wrong: Body,
    command: list[str],
    others: Body | None = None,
    *,
    argument: bool = False,
    option: str = "",
    api: bool = True,
    method: str = "POST",
) -> Case:
    """A fault of a field that has one name everywhere; `others` are sent too, and `command` is the rest of the command.

    The option has the field's name by default; an `argument` comes last. Without `api`, only people do this.
    """
    [(name, value)] = wrong.items()
    option = option or f"--{name.replace('_', '-')}"
    typed = Door([*command, str(value)], name) if argument else Door([*command, option, str(value)], option)
    sent = Door((others or {}) | wrong, name)
    return Case(message, of, step, sent if api else None, sent, typed, method)
