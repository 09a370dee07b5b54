"""Highlights code; the style sheet has the colours."""

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_FORMATTER = HtmlFormatter(nowrap=True)
_ALIASES = {"sh": "bash"}


def highlighted(code: str, language: str) -> Markup:
    """Return code as HTML with a class per token; an unknown language gives plain text."""
    try:
        lexer = get_lexer_by_name(_ALIASES.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return Markup(highlight(code, lexer, _FORMATTER))  # noqa: S704 the formatter escapes
