"""`docs/architecture.md` names files that exist, every cache and every advisory lock."""

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tradecounter"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

FILES = sorted(set(re.findall(r"`([a-z_][a-z_/]*(?:/|\.(?:py|toml)))`", PAGE)))
CACHING_NAMES = {"cache", "lru_cache", "cached_property", "OrderedDict", "WeakValueDictionary"}
PROTOCOL = "db/refresher.py"  # defines the protocol of caches; is not a cache itself
REGISTER = "tradecounter.db.advisory_locks"


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def sources() -> Iterator[list[tuple[str, list[ast.AST]]]]:
    """What all source files consist of, by place."""
    found = [
        (path.relative_to(SOURCE).as_posix(), list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        for path in sorted(SOURCE.rglob("*.py"))
    ]
    yield found
    found.clear()


def is_cache(node: ast.AST) -> bool:
    """Whether a node imports what keeps values, or defines something that does."""
    match node:
        case ast.ImportFrom(module="functools" | "collections" | "weakref", names=names):
            return any(alias.name in CACHING_NAMES for alias in names)
        case ast.ImportFrom(module="cachetools") | ast.FunctionDef(name="__missing__"):
            return True
        case ast.Import(names=names):
            return any(alias.name == "cachetools" for alias in names)
        case ast.ClassDef(name=name):
            return name.endswith("Cache")
        case ast.AsyncFunctionDef(name="refresh", args=args):
            return any(argument.arg == "versions" for argument in args.args)
    return False


def takes_advisory_lock(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(re.search(r"pg_(try_)?adv", node.value))
    )


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_the_page_names_exists(name: str) -> None:
    assert any((folder / name).exists() for folder in (SOURCE, ROOT)) or any(SOURCE.rglob(name))


def test_the_page_names_files() -> None:
    assert len(FILES) > 40


def test_every_cache_is_on_the_page(sources: list[tuple[str, list[ast.AST]]]) -> None:
    caches = section("Caches")
    holders = [name for name, nodes in sources if any(map(is_cache, nodes)) and name != PROTOCOL]
    assert len(holders) > 20
    assert [name for name in holders if f"`{name}`" not in caches] == []


def test_every_cache_class_is_on_the_page(sources: list[tuple[str, list[ast.AST]]]) -> None:
    classes = [node.name for _, nodes in sources for node in nodes if isinstance(node, ast.ClassDef)]
    caches = section("Caches")
    assert [name for name in classes if name.endswith("Cache") and f"`{name}`" not in caches] == []


def test_every_advisory_lock_is_on_the_page(sources: list[tuple[str, list[ast.AST]]]) -> None:
    locks = section("Locks")
    takers = [name for name, nodes in sources if any(map(takes_advisory_lock, nodes)) and "/versions/" not in name]
    assert takers
    assert [name for name in takers if f"`{name}`" not in locks and name != "db/advisory_locks.py"] == []
    if importlib.util.find_spec(REGISTER) is not None:
        register = vars(importlib.import_module(REGISTER)).items()
        names = [name for name, value in register if name.isupper() and not isinstance(value, type)]
        assert [name for name in names if f"`{name}`" not in locks] == []


def test_every_row_of_layers_is_in_the_drawing() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    assert layers == re.findall(r'\["(.+?)"\]', section("Layers"))


def test_a_package_whose_internals_are_imported_has_an_upper_bound(sources: list[tuple[str, list[ast.AST]]]) -> None:
    modules = {
        node.module for _, nodes in sources for node in nodes if isinstance(node, ast.ImportFrom) and node.module
    }
    builds_on = {name.partition(".")[0] for name in modules if "._" in name} - {"tradecounter"}
    assert builds_on
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    bounded = {re.split(r"\W", line)[0] for line in settings["project"]["dependencies"] if "<" in line}
    assert builds_on - bounded == set()
