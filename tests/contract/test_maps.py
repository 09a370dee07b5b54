"""The maps of CONTRIBUTING.md and docs/pages.md name every folder; what is written names only files that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tradecounter"
CODE = ("src", "tests", "rigs", "bench", "clients")
NAMED = re.compile(r"`([\w/.]+\.py)`")


def test_the_map_of_slices_has_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert len(folders) > 30
    assert sorted(folder for folder in folders if f"`{folder}/`" not in text) == []


def test_the_example_of_a_form_stands_in_its_files() -> None:
    text = (ROOT / "docs" / "pages.md").read_text(encoding="utf-8")
    pages = SOURCE / "quotes" / "pages"
    code, template = re.findall(r"^```(?:python|jinja)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert code in (pages / "staff" / "one_quote.py").read_text(encoding="utf-8")
    assert template.strip() == (pages / "templates" / "staff" / "decline.html").read_text(encoding="utf-8").strip()


def test_the_files_to_copy_exist() -> None:
    text = (ROOT / "docs" / "pages.md").read_text(encoding="utf-8")
    copied = set(re.findall(r"\| `([a-z_/]+\.py)` \|", text))
    assert len(copied) > 6
    assert sorted(name for name in copied if not (SOURCE / name).exists()) == []


def test_each_file_of_the_program_that_is_named_exists() -> None:
    parts = [path.relative_to(ROOT).parts for top in CODE for path in (ROOT / top).rglob("*.py")]
    names = {"/".join(path[start:]) for path in parts for start in range(len(path))}
    texts = [*(path for top in CODE for path in (ROOT / top).rglob("*.py")), *(ROOT / "docs").rglob("*.md")]
    texts += [*ROOT.glob("*.md"), *(ROOT / "bench").glob("*.md"), *(SOURCE / "docs_pages").glob("*.md")]
    named = {(path.name, name) for path in texts for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 300
    assert sorted((path, name) for path, name in named if name not in names) == []
