"""The templates, and how they write amounts, moments and what customers typed."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import jinja2

from tradecounter.kit.local_time import UK
from tradecounter.kit.text import one_line

_ADDRESS_LINES = (
    "contact_name", "company_name", "street_one", "street_two", "street_three", "city", "state", "zip", "country_code",
)  # fmt: skip


def _pounds(amount: Decimal) -> str:
    return f"£{amount:,.2f}"


def _day(moment: datetime) -> str:
    local = moment.astimezone(UK)
    return f"{local.day} {local:%B %Y}"


def _moment(moment: datetime) -> str:
    return f"{_day(moment)}, {moment.astimezone(UK):%H:%M} (UK time)"


def _address(details: dict[str, Any]) -> str:
    return ", ".join(str(details[name]) for name in _ADDRESS_LINES if details.get(name))


def _in_one_line(value: Any) -> Any:
    """Keep what a customer typed from looking like a line of the mail's own."""
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
    templates.filters.update(pounds=_pounds, day=_day, moment=_moment, address=_address)
    return templates


_TEXT, _HTML = _templates(html=False), _templates(html=True)


def worded(template: str, **facts: Any) -> tuple[str, str]:
    """Return a mail's text and HTML."""
    return _TEXT.get_template(f"{template}.txt").render(facts), _HTML.get_template(f"{template}.html").render(facts)
