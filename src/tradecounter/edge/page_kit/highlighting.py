"""Highlights code; the style sheet has the colours."""

from markupsafe import Markup

_ALIASES = {"sh": "bash"}


def highlighted(code: str, language: str) -> Markup:
    """Return code as HTML with a class per token; an unknown language gives plain text."""
    # Processes start without the library: only pages for programmers show code.
    from pygments import highlight  # noqa: PLC0415
    from pygments.formatters import HtmlFormatter  # noqa: PLC0415
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        lexer = get_lexer_by_name(_ALIASES.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return Markup(highlight(code, lexer, HtmlFormatter(nowrap=True)))  # noqa: S704 the formatter escapes
