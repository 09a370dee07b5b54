"""How pages show values: money, moments, dates, counts and states."""

import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from jinja2 import Environment, pass_environment
from jinja2.filters import do_truncate
from markupsafe import Markup, escape

from tradecounter.kit.clock import UK, day_on_pages, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import plural, sentence

_ROW_HEADING = 'h scope="row"'  # after "<t"
_LABEL = ' data-label="'
NOTHING = Markup('<span class="note" aria-label="none">&ndash;</span>')

# The tone of each state and status; the text is always shown too.
_TONES = {
    "good": {
        "dispatched",
        "completed",
        "paid",
        "active",
        "received",
        "delivered",
        "priced",
        "closed",
        "applied",
        "in stock",
        "invoiced",
        "valid",
        "added",
        "approved",
        "answered",
    },
    "busy": {
        "awaiting dispatch",
        "part dispatched",
        "part invoiced",
        "pending",
        "waiting",
        "open",
        "part paid",
        "confirmed",
        "ordered",
        "on order",
        "changed",
    },
    "warn": {"awaiting stock", "back-ordered", "paused", "expired", "due", "low stock"},
    "bad": {
        "cancelled",
        "declined",
        "failed",
        "deactivated",
        "blocked",
        "disabled",
        "reversed",
        "overdue",
        "failing",
        "large difference",
    },
}

# The irregular past tenses of the audit log's verbs.
_PAST = {
    "cancel": "cancelled",
    "give": "gave",
    "make": "made",
    "reset": "reset",
    "send": "sent",
    "set": "set",
    "stop": "stopped",
    "take": "took",
    "tell": "told",
}
# What the audit log says instead of the past tense.
_DONE = {
    "give": "given",
    "note": "note added",
    "take": "taken",
    "track": "tracking added",
    "video": "packing video added",
}
_PARTICLES = {"", "aside", "back", "in", "out"}
_CODE_LENGTH = 32
_LONGEST_UNBROKEN = 24  # characters, which fit on phones
_NOUNS = {"totp": "Second factor"}
_LABELS = {
    "sku": "SKU",
    "ean": "EAN",
    "single_unit_cost": "1 and more",
    "five_plus_unit_cost": "5 and more",
    "ten_plus_unit_cost": "10 and more",
}


def money(amount: Decimal | None) -> str:
    """Return an amount in pounds: £1,234.50."""
    return NOTHING if amount is None else in_pounds(amount)


def percent(number: Decimal) -> str:
    """Return a percentage without zeros at its end: 2.5%."""
    text = f"{number:f}".replace("-", "\N{MINUS SIGN}")
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}%"


def count(number: int | None) -> str:
    """Return a whole number with commas."""
    return NOTHING if number is None else f"{number:,}"


def tally(number: int) -> str:
    """Return a whole number for a cell that phones leave out if it is 0."""
    return count(number) if number else Markup('<span class="zero">0</span>')


def size(length: int) -> str:
    """Return the size of a file: 812 bytes, 6.2 MB."""
    for unit, of_it in (("MB", 1_000_000), ("kB", 1_000)):
        if length >= of_it:
            return f"{length / of_it:,.1f} {unit}"
    return plural(length, "byte")


def moment(when: datetime | None) -> str:
    """Return a moment as a `<time>` in UK time: 16 Jun 2026, 09:00."""
    if when is None:
        return NOTHING
    return Markup('<time datetime="{}">{}</time>').format(_exact(when), moment_text(when))


def moment_text(when: datetime) -> str:
    """Return a moment in UK time as text: 16 Jun 2026, 09:00."""
    local = when.astimezone(UK)
    return f"{local.day} {local:%b %Y, %H:%M}"


def near(when: datetime) -> str:
    """Return a moment of the current days as a `<time>` in UK time: 16 Jun, 09:00."""
    local = when.astimezone(UK)
    return Markup('<time datetime="{}">{} {:%b, %H:%M}</time>').format(_exact(when), local.day, local)


def clock_time(when: datetime) -> str:
    """Return the time of day of a moment in the UK as a `<time>`: 09:00."""
    return Markup('<time datetime="{}">{:%H:%M}</time>').format(_exact(when), when.astimezone(UK))


def day(when: date | datetime | None) -> str:
    """Return a date as a `<time>`: 16 Jun 2026. A moment's date is that in the UK."""
    if when is None:
        return NOTHING
    date_in_uk = uk_date(when) if isinstance(when, datetime) else when
    return Markup('<time datetime="{}">{}</time>').format(date_in_uk.isoformat(), day_on_pages(date_in_uk))


def tone(state: Any) -> str:
    """Return the tone of a state's badge."""
    text = str(state).lower()
    return next((name for name, states in _TONES.items() if text in states), "plain")


def label(name: str) -> str:
    """Return the name of a field for people: `items-0-quantity` is Items 1 quantity."""
    if name in _LABELS:
        return _LABELS[name]
    words = [str(int(word) + 1) if word.isdecimal() else word.replace("_", " ") for word in name.split("-")]
    return " ".join(words).capitalize()


def action(name: str) -> str:
    """Return an action of the audit log for people: `credit_note.issue` is Credit note: issued."""
    noun, _, done = name.partition(".")
    verb, _, rest = done.partition("_")
    words = [_DONE.get(verb) or past(verb), rest.replace("_", " ")]
    if rest not in _PARTICLES:  # `user.change_role`: the role is changed
        words.reverse()
    return f"{_NOUNS.get(noun) or noun.replace('_', ' ').capitalize()}: {' '.join(words).strip()}"


def past(verb: str) -> str:
    """Return the past of a verb of the audit log: added, received, applied, gave."""
    if verb in _PAST:
        return _PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if verb.endswith(("ry", "ly")) else f"{verb}ed"


def short_code(name: str) -> str:
    """Return the beginning of a confirmation code, and an order's reference as it is."""
    return f"{name[:8]}…" if len(name) == _CODE_LENGTH else name


def unbroken(text: Any) -> Any:
    """Return a text whose words with hyphens, such as PO-41684, stay on one line."""
    if not isinstance(text, str) or "-" not in text:
        return text
    words = (_on_one_line(word) if "-" in word else word for word in re.split(r"(\s)", text))
    return Markup("<span>{}</span>").format(Markup("").join(words))


def _on_one_line(word: str) -> str:
    return Markup('<span class="unbroken">{}</span>').format(word) if len(word) <= _LONGEST_UNBROKEN else word


@pass_environment
def truncate(environment: Environment, text: str, length: int) -> str:
    """Return the first words of a text, followed by “…”; Jinja's own filter writes three dots."""
    return do_truncate(environment, text, length, end="…")


def labels(headings: Iterable[str]) -> list[str]:
    """Return what `labelled` puts into the cells of columns with these headings.

    A heading of numbers may begin with "#"; that of steps is empty.
    """
    return [f'{_LABEL}{escape(heading.removeprefix("#"))}"' if heading else "" for heading in headings]


def labelled(cells: Markup, labels: Iterable[str]) -> Markup:
    """Return a table's row whose cells are labelled for phones. Cells that have a label of their own keep it."""
    left = iter(labels)
    parts = str.split(cells, "<t")
    for number, part in enumerate(parts):
        start = 1 if part.startswith("d") else len(_ROW_HEADING) if part.startswith(_ROW_HEADING) else 0
        if number and start:
            label = next(left, "")
            if not part.startswith(_LABEL, start):
                parts[number] = part[:start] + label + part[start:]
    return Markup("<t".join(parts))  # noqa: S704 the cells are, and labels are escaped


def zip_same(options: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Return options whose values are their texts, as pairs."""
    return [(option, option) for option in options]


def numbered(rows: Iterable[Any]) -> list[tuple[int, Any]]:
    """Return rows with their numbers from 0, for the names of their fields."""
    return list(enumerate(rows))


def _exact(when: datetime) -> str:
    return when.astimezone(UK).isoformat(timespec="seconds")


FILTERS = {
    "money": money,
    "percent": percent,
    "bytes": size,
    "count": count,
    "tally": tally,
    "moment": moment,
    "clock": clock_time,
    "near": near,
    "day": day,
    "tone": tone,
    "label": label,
    "action": action,
    "short_code": short_code,
    "unbroken": unbroken,
    "sentence": sentence,
    "labels": labels,
    "labelled": labelled,
    "truncate": truncate,
    "zip_same": zip_same,
    "numbered": numbered,
}
