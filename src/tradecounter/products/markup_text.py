"""The text of HTML that a description contains."""

import re
from html import unescape

_COMMENT = r"<!--(?:[^<-]|<(?!!--)|-(?!->))*-->"
_TAG = re.compile(_COMMENT + r"|<(?P<closing>/?)(?P<name>[a-zA-Z][^\s<>/]*)[^<>]*>|<[!?][^<>]*>")
_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_NO_TEXT = {"script", "style"}


def text_of_markup(markup: str) -> str:
    """Return an HTML fragment's text, in linear time for any input; tags separate words."""
    parts: list[str] = []
    hidden, end = "", 0  # `hidden`: the name of the script or style element around the text
    for tag in _TAG.finditer(markup):
        if not hidden:
            parts.append(markup[end : tag.start()])
        name = (tag["name"] or "").lower()
        if not hidden and not tag["closing"] and name in _NO_TEXT:
            hidden = name
        elif name == hidden and tag["closing"]:
            hidden = ""
        end = tag.end()
    if not hidden:
        parts.append(markup[end:])
    return _ENTITY.sub(lambda entity: unescape(entity[0]), " ".join(parts))
