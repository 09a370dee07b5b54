"""Renders the mail templates; filters format amounts, times, addresses and text from customers."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

import jinja2

from tradecounter.customers.address_rules import address_lines
from tradecounter.kit.local_time import UK, day_in_words, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import one_line
from tradecounter.notifications.mail import LOGO_ID

_LABEL_WIDTH = 20  # columns of the text part
_TEXT_WIDTH = 62


class _Formatted(str):
    """Text whose line breaks and no-break spaces come from the template."""

    __slots__ = ()


def _day(moment: datetime) -> str:
    return day_in_words(uk_date(moment))


def _moment(moment: datetime) -> str:
    return f"{_day(moment)}, {moment.astimezone(UK):%H:%M} (UK time)"


def _unbroken(words: str) -> _Formatted:
    """Return words with line breaks only after commas, even on a narrow screen."""
    return _Formatted(words.replace(" ", "\u00a0").replace(",\u00a0", ", "))


def _fact(lines: str | Iterable[str], label: str) -> _Formatted:
    """Return a label and a value; all lines of the value start in the same column."""
    values = [lines] if isinstance(lines, str) else lines
    labels = [label]
    return _Formatted("\n".join(f"{labels.pop() if labels else '':{_LABEL_WIDTH}}{one_line(line)}" for line in values))


def _amount(amount: Decimal, label: str) -> _Formatted:
    """Return a label and an amount that ends in the last column."""
    shown = in_pounds(amount)
    label = label if label.isprintable() else one_line(label)
    room = _TEXT_WIDTH - len(shown) - 1
    return _Formatted(f"{label:{room}} {shown}" if len(label) <= room else f"{label}\n{shown:>{_TEXT_WIDTH}}")


def _in_one_line(value: Any) -> Any:
    """Replace a customer's line breaks, so the text cannot imitate other lines of the e-mail."""
    return one_line(value) if type(value) is str and not value.isprintable() else value


def _templates(*, html: bool) -> jinja2.Environment:
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("tradecounter.notifications"),
        autoescape=html,  # noqa: S701 plain text has nothing to escape
        finalize=_in_one_line,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(
        pounds=in_pounds,
        day=_day,
        date=day_in_words,
        moment=_moment,
        address=address_lines,
        fact=_fact,
        amount=_amount,
        formatted=_Formatted,
    )
    if html:
        templates.filters.update(
            date=lambda at: _unbroken(day_in_words(at)),
            day=lambda at: _unbroken(_day(at)),
            moment=lambda at: _unbroken(_moment(at)),
        )
    templates.globals["logo_id"] = LOGO_ID
    return templates


_TEXT = _templates(html=False)
_HTML = _templates(html=True)


def render(template: str, **facts: Any) -> tuple[str, str]:
    """Return an e-mail's text and HTML."""
    return _TEXT.get_template(f"{template}.txt").render(facts), _HTML.get_template(f"{template}.html").render(facts)
