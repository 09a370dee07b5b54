"""`/changelog` and its JSON feed: what changes for customers, from the project's changelog."""

import re
from pathlib import Path

import pytest

from support.service import Service
from support.web_page import Page
from tradecounter.docs_pages.changelog import Entry, read_changelog, written_changelog

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
WRITTEN = """# Changelog

For those who write it.

## Unreleased

### Customers' API

- One thing with `code`,
  in two lines.
- Another.

### Operations

- Not for customers.

## 0.1.0

The first release.

### Speed

- Faster.
"""


def test_the_package_contains_the_projects_changelog() -> None:
    assert written_changelog() == CHANGELOG.read_text()


def test_entries_of_customers_groups_are_read_and_others_left_out() -> None:
    [release] = read_changelog(WRITTEN)
    assert (release.name, [entry.text for entry in release.entries]) == (
        "Unreleased",
        ["One thing with `code`, in two lines.", "Another."],
    )
    assert release.entries[0].html == "One thing with <code>code</code>, in two lines."


def test_an_entry_keeps_its_anchor_when_its_release_gets_a_number() -> None:
    [before], [after] = read_changelog(WRITTEN), read_changelog(WRITTEN.replace("Unreleased", "0.2.0"))
    assert after.name == "0.2.0"
    assert [entry.anchor for entry in before.entries] == [entry.anchor for entry in after.entries]


def test_every_line_of_the_changelog_is_read() -> None:
    text = CHANGELOG.read_text()
    parts = re.split(r"^### (.*)\n", re.sub(r"^## .*\n", "### none\n", text, flags=re.MULTILINE), flags=re.MULTILINE)
    groups = {"Customers' API", "Events and webhooks", "Pages of customers"}
    written = [
        line for group, body in zip(parts[1::2], parts[2::2], strict=True) if group in groups for line in body.split()
    ]
    entries = [entry for release in read_changelog(text) for entry in release.entries]
    assert [word for entry in entries for word in ("-", *entry.text.split())] == written
    assert len({entry.anchor for entry in entries}) == len(entries) > 50


def test_the_page_has_each_entry_under_its_release_and_group(service: Service) -> None:
    page = Page(service.client().get("/changelog").text)
    for release in read_changelog(CHANGELOG.read_text()):
        assert release.name in page.text
        for entry in release.entries:
            assert entry.anchor in page.values("id")


def test_the_feed_has_what_the_page_has(service: Service) -> None:
    response = service.client().get("/changelog.json")
    assert response.headers["content-type"].partition(";")[0] == "application/feed+json"
    feed = response.json()
    entries: list[tuple[str, Entry]] = [
        (release.name, entry) for release in read_changelog(CHANGELOG.read_text()) for entry in release.entries
    ]
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert feed["home_page_url"] == f"{service.url}/changelog"
    assert feed["feed_url"] == f"{service.url}/changelog.json"
    assert [item["id"] for item in feed["items"]] == [f"{service.url}/changelog#{entry.anchor}" for _, entry in entries]
    assert feed["items"][0] == {
        "id": f"{service.url}/changelog#{entries[0][1].anchor}",
        "url": f"{service.url}/changelog#{entries[0][1].anchor}",
        "content_html": str(entries[0][1].html),
        "tags": [entries[0][0], entries[0][1].group],
    }


@pytest.mark.parametrize("path", ["/changelog", "/changelog.json"])
def test_whoever_has_the_present_one_gets_304(service: Service, path: str) -> None:
    client = service.client()
    tag = client.get(path).headers["ETag"]
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
