"""`/changelog`: what changes for customers' programs, from the project's changelog, as a page and as a JSON feed."""

from collections.abc import Iterable, Sequence
from importlib.resources import files

from markupsafe import Markup
from msgspec import Struct

from tradecounter.edge.page_kit.markdown import render_inline
from tradecounter.edge.page_kit.page import Page
from tradecounter.edge.page_kit.templates import page_templates
from tradecounter.edge.rest.operation import ANY_ADDRESS, Operation
from tradecounter.kit.digest import digest_of
from tradecounter.kit.json_text import to_json

_GROUPS = ("Customers' API", "Events and webhooks", "Pages of customers")  # the others are for operators and staff
_FEED = "application/feed+json"
_LETTERS = 12  # of an entry's anchor


class Entry(Struct, frozen=True):
    """A change; the anchor follows from its text, so that it stays when the release gets its number."""

    group: str
    text: str

    @property
    def anchor(self) -> str:
        """The id on the page and, after the page's address, in the feed."""
        return f"change-{digest_of(self.text.encode()).hex()[:_LETTERS]}"

    @property
    def html(self) -> Markup:
        """The text as HTML."""
        return render_inline(self.text)


class Release(Struct, frozen=True):
    """A release's changes for customers, or those that are not released yet."""

    name: str
    entries: list[Entry]

    @property
    def groups(self) -> dict[str, list[Entry]]:
        """The changes by group."""
        entries_of_group = {group: [entry for entry in self.entries if entry.group == group] for group in _GROUPS}
        return {group: entries for group, entries in entries_of_group.items() if entries}


def written_changelog() -> str:
    """Return the project's changelog, which the package contains."""
    return files(__package__).joinpath("CHANGELOG.md").read_text(encoding="utf-8")


def read_changelog(text: str) -> list[Release]:
    """Return the releases of a changelog that have changes for customers, the latest first."""
    releases: list[Release] = []
    group = ""
    lines = list[str]()

    def end_entry() -> None:
        if lines and group in _GROUPS:
            releases[-1].entries.append(Entry(group, " ".join(lines)))
        lines.clear()

    for line in text.splitlines():
        if line.startswith("  ") and lines:
            lines.append(line.strip())
            continue
        end_entry()
        if line.startswith("## "):
            releases.append(Release(line.removeprefix("## "), []))
            group = ""
        elif line.startswith("### "):
            group = line.removeprefix("### ")
        elif line.startswith("- "):
            lines.append(line.removeprefix("- "))
    end_entry()
    return [release for release in releases if release.entries]


def render_changelog(releases: Sequence[Release], operations: Iterable[Operation], *, sandbox: bool) -> Page:
    """Return the page, with the deprecated operations first."""
    template = page_templates(__package__).get_template("changelog.html")
    deprecated = [(operation, operation.deprecation) for operation in operations if operation.deprecation is not None]
    return Page.of(template.render(releases=releases, deprecated=deprecated, here="changelog", sandbox=sandbox))


def changelog_feed(releases: Sequence[Release]) -> Page:
    """Return the feed (JSON Feed 1.1). The changelog names no days."""
    page = f"{ANY_ADDRESS}/changelog"
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Changes of the Tradecounter API",
        "home_page_url": page,
        "feed_url": f"{page}.json",
        "language": "en-GB",
        "items": [
            {
                "id": f"{page}#{entry.anchor}",
                "url": f"{page}#{entry.anchor}",
                "content_html": str(entry.html),
                "tags": [release.name, entry.group],
            }
            for release in releases
            for entry in release.entries
        ],
    }
    return Page.of(to_json(feed).decode(), _FEED)
