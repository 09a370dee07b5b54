"""Renders our Markdown with anchors, highlighted code and accessible tables."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape
from msgspec import Struct

from tradecounter.edge.page_kit.highlighting import highlighted

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Heading(Struct, frozen=True):
    """A heading of level 2 or below."""

    level: int
    anchor: str
    text: str


class Document(Struct, frozen=True):
    """A rendered document; `body` is HTML without the title."""

    title: str
    body: Markup
    headings: list[Heading]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 60 modules, which a process needs for its first text, not to start

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def render_inline(text: str) -> Markup:
    """Return a line of Markdown as HTML."""
    return Markup(_parser().renderInline(text))  # noqa: S704 HTML in the source is escaped


def render_text(text: str) -> Markup:
    """Return paragraphs of Markdown as HTML."""
    return Markup(_parser().render(text))  # noqa: S704 HTML in the source is escaped


def render_document(source: str, code_links: Mapping[str, str]) -> Document:
    """Return a rendered document; the source begins with its title. Code in `code_links` becomes a link."""
    tokens = _parser().parse(source)
    title = tokens[1].content
    headings: list[Heading] = []
    pieces: list[str] = []
    tables = 0
    for before, token, after in zip(tokens[2:], tokens[3:], [*tokens[4:], tokens[-1]], strict=False):
        if token.type == "heading_open":
            heading = Heading(int(token.tag[1:]), _anchor(after.content), _plain(after))
            headings.append(heading)
            token.attrSet("id", heading.anchor)
        elif token.type == "table_open":
            tables += 1
            token.meta["number"] = tables
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "inline" and before.type != "heading_open":
            token.children = list(_linked(token.children or (), code_links))
        pieces.append(_rendered(token, headings))
    return Document(title, Markup("".join(pieces)), headings)  # noqa: S704 rendered just before


def _rendered(token: "Token", headings: list[Heading]) -> str:
    if token.type == "fence":
        return f'<pre class="code"><code>{highlighted(token.content.rstrip(), token.info)}</code></pre>\n'
    if token.type == "table_open":
        label = f"Table {token.meta['number']}"
        return f'<div class="wide" tabindex="0" role="region" aria-label="{label}"><table>'
    if token.type == "table_close":
        return "</table></div>\n"
    if token.type == "heading_close":
        last = headings[-1]
        sign = f'<a class="anchor" href="#{last.anchor}" aria-label="Link to: {escape(last.text)}">#</a>'
        return f" {sign}</{token.tag}>\n"
    return str(_parser().renderer.render([token], _parser().options, {}))


def _linked(tokens: "Iterable[Token]", code_links: Mapping[str, str]) -> "Iterator[Token]":
    """Yield tokens, with links instead of the code in `code_links` that is not part of a link."""
    in_link = False
    for token in tokens:
        in_link = token.type == "link_open" or (in_link and token.type != "link_close")
        if in_link or token.type != "code_inline" or token.content not in code_links:
            yield token
        else:
            link = f'<a href="{escape(code_links[token.content])}"><code>{escape(token.content)}</code></a>'
            yield type(token)("html_inline", "", 0, content=link)


def _plain(inline: "Token") -> str:
    return "".join(child.content for child in inline.children or ())


def _anchor(text: str) -> str:
    """Return GitHub's anchor for a heading, so that links also work on GitHub."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
