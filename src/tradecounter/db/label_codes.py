"""Finds codes that people read off labels, such as serial numbers: by the whole, the beginning or the end.

Only ASCII letters and digits count, so that punctuation and case do not matter. A column needs two indexes, of its code
and of the code backwards, both with `text_pattern_ops`. A column that may be without such characters is also compared
as it is.
"""

import re
from typing import LiteralString

from psycopg.sql import SQL, Composed

MOST_OF_ALL = 1_000  # codes of all customers that are read to find one customer's among them
_SHORTEST_PART = 4
_LAST = "\U0010ffff"  # after every other character
_FIRST = "\x01"  # before every other character
LONGEST_SERIAL = 200  # characters of a serial number
_PUNCTUATION = re.compile(r"[^0-9a-z]")


def typed_code(text: str) -> str:
    """Return the code that a text is."""
    return _PUNCTUATION.sub("", text.lower())


def typed_part(text: str) -> str:
    """Return the part of a code that a text is; empty if it is too short to be one."""
    code = typed_code(text)
    return code if len(code) >= _SHORTEST_PART else ""


def code_of(column: LiteralString) -> SQL:
    """Return the expression for a column's code, as it is in the indexes."""
    return SQL(f"lower(regexp_replace({column}, '[^0-9A-Za-z]', '', 'g'))")


def begins(column: LiteralString) -> Composed:
    """Return the condition, in the order of the index, for codes that begin with the values of `code_bounds`."""
    code = code_of(column)
    return SQL("{code} ~>=~ :code and {code} ~<~ :after_code order by {code} using ~<~").format(code=code)


def ends(column: LiteralString) -> Composed:
    """Return the condition, in the order of the index, for codes that end with the values of `code_bounds`."""
    end = SQL("reverse({})").format(code_of(column))
    return SQL("{end} ~>=~ :code_end and {end} ~<~ :after_code_end order by {end} using ~<~").format(end=end)


def code_bounds(text: str) -> dict[str, str | None]:
    """Return the values for `begins` and `ends`; a code of fewer than four characters is only found whole."""
    code, end = typed_code(text), typed_part(text)[::-1]
    return {
        "code": code or None,
        "after_code": code + (_LAST if end else _FIRST) if code else None,
        "code_end": end or None,
        "after_code_end": end + _LAST if end else None,
    }
