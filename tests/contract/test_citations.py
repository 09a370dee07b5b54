"""Every citation of the specification leads to a section or a topic of docs/specification.md."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("src", "tests", "bench", "docs", "CONTRIBUTING.md", "README.md")
_CITATION = re.compile(r"\(specification[,:] ([^()]+)\)")
_NUMBERED = re.compile(r"sections? \d+(?: and \d+)*|\d+(?: and \d+)?")
_HEADING = re.compile(r"^##+ (?:(\d+) )?(.+)$", re.MULTILINE)


def files() -> Iterator[Path]:
    for place in PLACES:
        path = ROOT / place
        yield from (path.rglob("*.*") if path.is_dir() else [path])


def citations() -> Iterator[tuple[Path, str]]:
    for path in files():
        if path.suffix in {".py", ".md", ".sql"}:
            for cited in _CITATION.findall(path.read_text()):
                yield path, " ".join(cited.replace("#", "").split())


def test_every_citation_leads_to_a_section_or_a_topic() -> None:
    headings = _HEADING.findall((ROOT / "docs" / "specification.md").read_text())
    sections = {number for number, _ in headings if number}
    topics = {topic.lower() for _, topic in headings}
    found = list(citations())
    lost = []
    for path, cited in found:
        for each in re.split(r"[,;] ", cited):
            numbers = re.findall(r"\d+", each) if _NUMBERED.fullmatch(each) else ()
            if not (set(numbers) <= sections if numbers else each.lower() in topics):
                lost.append(f"{path.relative_to(ROOT)}: {each}")
    assert not lost
    assert len(found) > 100
