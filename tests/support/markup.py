"""What tests read from the HTML of a page: its links, its forms as a browser would send them, the rows of its list."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin

Attributes = dict[str, str | None]


@dataclass
class Form:
    """A form with the values that it has when the page is opened."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)

    @property
    def values(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, value in self.fields:
            found.setdefault(name, []).append(value)
        return found


@dataclass
class Markup:
    """The links and forms of a page; addresses are resolved.

    `first_cells` has the links in the first cell of each row of its list, not of other tables.
    """

    links: list[str] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    first_cells: list[list[str]] = field(default_factory=list)


def markup_of(html: str, address: str) -> Markup:
    """What tests read from the page at an address."""
    reader = _Reader(address)
    reader.feed(html)
    return reader.found


class _Reader(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__()
        self.found = Markup()
        self._address = address
        self._form: Form | None = None
        self._select: str | None = None
        self._chosen: str | None = None
        self._area: tuple[str, list[str]] | None = None
        self._is_list = False
        self._cells: int | None = None  # of the row so far; None outside of lists

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._read_row(tag, values)
        if tag == "a" and values.get("href"):
            link = urljoin(self._address, values["href"])
            self.found.links.append(link)
            if self._cells == 1:
                self.found.first_cells[-1].append(link)
        elif tag == "form":
            action = urljoin(self._address, values.get("action") or self._address)
            self._form = Form(action, (values.get("method") or "get").upper())
            self.found.forms.append(self._form)
        elif self._form is not None:
            self._read_control(tag, values, self._form)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._cells = None
        elif tag == "form":
            self._form = None
        elif tag == "select" and self._form is not None and self._select and self._chosen is not None:
            self._form.fields.append((self._select, self._chosen))
            self._select = self._chosen = None
        elif tag == "textarea" and self._form is not None and self._area is not None:
            self._form.fields.append((self._area[0], "".join(self._area[1]).removeprefix("\n")))
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area[1].append(data)

    def _read_row(self, tag: str, values: Attributes) -> None:
        if values.get("id") == "results":  # around the table of a list
            self._is_list = True
        elif tag == "tbody" and self._is_list:
            self._cells, self._is_list = 0, False
        elif self._cells is not None and tag == "tr":
            self._cells = 0
            self.found.first_cells.append([])
        elif self._cells is not None and tag in {"td", "th"}:
            self._cells += 1

    def _read_control(self, tag: str, values: Attributes, form: Form) -> None:
        name = values.get("name")
        if tag == "input" and name and self._is_sent(values):
            form.fields.append((name, values.get("value") or ""))
        elif tag == "select":
            self._select, self._chosen = name, None
        elif tag == "option" and (self._chosen is None or "selected" in values):
            self._chosen = values.get("value") or ""
        elif tag == "textarea" and name:
            self._area = (name, [])

    @staticmethod
    def _is_sent(values: Attributes) -> bool:
        kind = values.get("type")
        return kind not in {"submit", "file", "button"} and (kind not in {"checkbox", "radio"} or "checked" in values)
