"""Every page, heading and file that the documentation names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for pattern in ("*.md", "bench/*.md", "docs/**/*.md", "src/**/*.md", "rigs/failover/*.md")
    for page in ROOT.glob(pattern)
    if not page.is_symlink()
)
MADE_BY_OPERATORS = {"deploy/postgres.env", "deploy/secrets.env"}

_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?P<page>[^)\s#]*)(?:#(?P<heading>[^)\s]+))?\)")
_FILE = re.compile(r"`((?:bench|deploy|docs|src|tests)/[\w./-]+)`")


def named(page: Path) -> str:
    """Return the name that a failing test shows."""
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"\]\([^)]*\)|[^\w\- ]", "", heading) for heading in headings)
    return {heading.strip().lower().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    for link in _LINK.finditer(_BLOCK.sub("", page.read_text())):
        if re.match(r"[a-z]+:|/", link["page"]):
            continue  # another site, or a path of the service
        target = page.parent / link["page"] if link["page"] else page
        assert target.exists(), link[0]
        assert link["heading"] is None or target.suffix != ".md" or link["heading"] in anchors(target), link[0]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_file_that_is_named_exists(page: Path) -> None:
    files = set(_FILE.findall(_BLOCK.sub("", page.read_text()))) - MADE_BY_OPERATORS
    assert [file for file in sorted(files) if not (ROOT / file).exists()] == []
