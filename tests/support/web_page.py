"""What tests look for in an HTML page."""

import html
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_SECTION = re.compile(r'<section class="operation" aria-labelledby="(\w+)">(.*?)</section>', re.DOTALL)
_SAMPLE = re.compile(r'<details class="sample" data-language="(\w+)".*?<pre class="code"><code>(.*?)</code>', re.DOTALL)


@dataclass
class Element:
    """A start tag."""

    tag: str
    attributes: dict[str, str]


@dataclass
class Page(HTMLParser):
    """The elements of a page, in order."""

    text: str
    elements: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def all(self, *tags: str) -> list[Element]:
        """The elements with these tags."""
        return [element for element in self.elements if element.tag in tags]

    def values(self, attribute: str) -> list[str]:
        """The values of an attribute, wherever it stands."""
        return [found.attributes[attribute] for found in self.elements if attribute in found.attributes]

    @property
    def samples(self) -> dict[tuple[str, str], str]:
        """The samples of the reference as a reader copies them, by language and operation."""
        return {
            (language, name): plain(code)
            for name, section in _SECTION.findall(self.text)
            for language, code in _SAMPLE.findall(section)
        }


def plain(marked_up: str) -> str:
    """Marked up text as readers see it."""
    return html.unescape(re.sub(r"<[^>]+>", "", marked_up))
