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


def test_the_map_of_tests_has_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/**/*.py")}
    assert len(folders) > 10
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


def test_the_methods_to_copy_stand_in_their_files() -> None:
    text = (ROOT / "docs" / "pages.md").read_text(encoding="utf-8")
    copied = re.findall(r"^\|.*, as `(\w+)`.*\| `([a-z_/]+\.py)` \|$", text, re.MULTILINE)
    assert len(copied) > 4
    missing = [name for name, file in copied if f"def {name}(" not in (SOURCE / file).read_text(encoding="utf-8")]
    assert missing == []


def test_the_table_of_macros_has_every_macro() -> None:
    text = (ROOT / "docs" / "pages.md").read_text(encoding="utf-8")
    templates = sorted((SOURCE / "edge" / "page_kit" / "templates").glob("kit/*.html"))
    assert len(templates) > 4
    for template in templates:
        [row] = re.findall(rf"^\| (.*) \| `kit/{template.name}` \|$", text, re.MULTILINE)
        macros = re.findall(r"macro ([a-z]\w*)\(", template.read_text(encoding="utf-8"))
        assert sorted(re.findall(r"`(\w+)`", row)) == sorted(macros)


def test_each_file_of_the_program_that_is_named_exists() -> None:
    parts = [path.relative_to(ROOT).parts for top in CODE for path in (ROOT / top).rglob("*.py")]
    names = {"/".join(path[start:]) for path in parts for start in range(len(path))}
    texts = [*(path for top in CODE for path in (ROOT / top).rglob("*.py")), *(ROOT / "docs").rglob("*.md")]
    texts += [*ROOT.glob("*.md"), *(ROOT / "bench").glob("*.md"), *(SOURCE / "docs_pages").glob("*.md")]
    named = {(path.name, name) for path in texts for name in NAMED.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 300
    assert sorted((path, name) for path, name in named if name not in names) == []
