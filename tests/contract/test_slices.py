"""What a slice's doors, its operations, pages and commands, may import, and what may import them.

`pyproject.toml` has the floors of everything else.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tradecounter"

DOORS = {"operations", "pages", "commands"}
NO_SLICES = {"edge", "sites", "installation", "demo"}
ABOVE = {"sites", "installation", "demo"}  # put the doors together
BETWEEN = {"parts"}  # what doors of several slices are made with


@pytest.fixture(scope="module")
def imports() -> list[tuple[str, str]]:
    """All imports, as pairs of module names below `tradecounter`."""
    return [
        (module_of(path), imported)
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tradecounter.")
        for imported in names_of(node)
    ]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


def names_of(node: ast.ImportFrom) -> Iterator[str]:
    """The module that a statement imports from, and each name as if it were a module of it."""
    module = (node.module or "").removeprefix("tradecounter.")
    yield module
    yield from (f"{module}.{alias.name}" for alias in node.names)


def slice_of(module: str) -> str:
    return module.partition(".")[0]


def door_of(module: str) -> str:
    """`pages` for `orders.pages.staff.one_order`; empty for what is no door."""
    name, _, rest = module.partition(".")
    door = rest.partition(".")[0]
    return door if name not in NO_SLICES and door in DOORS else ""


def strays(imports: list[tuple[str, str]], forbidden: Callable[[str, str], bool]) -> Iterator[str]:
    return (f"{module} imports {imported}" for module, imported in imports if forbidden(module, imported))


def test_rules_and_use_cases_know_no_door(imports: list[tuple[str, str]]) -> None:
    def forbidden(module: str, imported: str) -> bool:
        return bool(door_of(imported)) and not door_of(module) and slice_of(module) not in ABOVE | BETWEEN

    assert list(strays(imports, forbidden)) == []
    assert any(door_of(imported) for _, imported in imports)


def test_the_pages_of_a_slice_import_no_other_slices_pages(imports: list[tuple[str, str]]) -> None:
    def forbidden(module: str, imported: str) -> bool:
        return door_of(module) == door_of(imported) == "pages" and slice_of(module) != slice_of(imported)

    assert list(strays(imports, forbidden)) == []


def test_doors_do_not_know_the_sites(imports: list[tuple[str, str]]) -> None:
    def forbidden(module: str, imported: str) -> bool:
        return bool(door_of(module)) and slice_of(imported) in ABOVE

    assert list(strays(imports, forbidden)) == []


def test_operations_and_pages_do_not_know_the_command_line(imports: list[tuple[str, str]]) -> None:
    def forbidden(module: str, imported: str) -> bool:
        return door_of(module) in {"operations", "pages"} and (
            door_of(imported) == "commands" or imported.startswith("edge.command_line")
        )

    assert list(strays(imports, forbidden)) == []


def test_edge_knows_no_slice(imports: list[tuple[str, str]]) -> None:
    tools = {"edge", "kit", "db", "settings", "monitoring"}

    def forbidden(module: str, imported: str) -> bool:
        return slice_of(module) == "edge" and slice_of(imported) not in tools

    assert list(strays(imports, forbidden)) == []
