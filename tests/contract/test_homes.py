"""What may stand in one place only does: the clock, the environment, SQL, floats, commits; imports stand at the top."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tradecounter"

_STATEMENT = re.compile(
    r"^\s*(select|insert\s+into|update|delete\s+from|with|create|alter|drop|truncate|copy|lock\s+table|set\s+transaction)"
    r"\s+[a-z_{:('0-9]"
)

_QUERIES = re.compile(r"(^|/)queries(\.py$|/)")

_ADVISORY_LOCK = re.compile(r"pg_(try_)?advisory_", re.IGNORECASE)

_END = re.compile(r"^\s*(commit|rollback)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Rule:
    """What something may not stand outside of, and how it is found."""

    what: str
    found: Callable[[ast.AST], bool]
    home: Callable[[str], bool]
    reason: str


def _call(node: ast.AST) -> str:
    """What a call calls: `float`, `datetime.now`; of a longer name, the last two words."""
    return _dotted(node.func) if isinstance(node, ast.Call) else ""


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value).rpartition('.')[2]}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _asks_for_the_time(node: ast.AST) -> bool:
    return _call(node) in {
        "datetime.now",
        "datetime.today",
        "datetime.utcnow",
        "date.today",
        "time.time",
        "time.time_ns",
    }


def _reads_the_environment(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and _dotted(node) in {"os.environ", "os.environb", "os.getenv", "os.putenv"}


def _is_sql(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_STATEMENT.match(node.value))


def _takes_an_advisory_lock(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(_ADVISORY_LOCK.search(node.value))


def _makes_a_float(node: ast.AST) -> bool:
    return _call(node) == "float"


def _ends_a_transaction(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(_END.match(node.value))
    name = _call(node)
    return name.endswith((".commit", ".rollback")) or name in {"connection.transaction", "engine.begin", "Rollback"}


def _makes_a_dataclass(node: ast.AST) -> bool:
    """Whether a node is a dataclass without cached properties, which `replace` of structs would take over."""
    return (
        isinstance(node, ast.ClassDef)
        and any("dataclass" in ast.unparse(each) for each in node.decorator_list)
        and "@cached_property" not in ast.unparse(node)
    )


# Settings have metadata, an error is an exception, a serial number has a field that is not compared, and a view
# of few products has an `__init__`.
DATACLASSES = {
    "settings.py",
    "edge/server/connection/responses.py",
    "shipments/wire.py",
    "storefront/view.py",
}


RULES = [
    Rule(
        "the current time",
        _asks_for_the_time,
        lambda place: place == "kit/clock.py",
        "take a Clock, so that tests can hold time still",
    ),
    Rule(
        "the environment",
        _reads_the_environment,
        # The server hands the database's URL to the processes that it starts, which read their settings again.
        lambda place: place in {"settings.py", "sites/http/server.py"},
        "add a setting",
    ),
    Rule(
        "SQL",
        _is_sql,
        lambda place: place.startswith(("db/", "bulk/")) or bool(_QUERIES.search(place)),
        "give the statement a typed function in the slice's queries.py, or in a file of its queries/",
    ),
    Rule(
        "an advisory lock",
        _takes_an_advisory_lock,
        lambda place: place == "db/advisory_locks.py",
        "add it to the register, so that no two locks have the same key",
    ),
    Rule(
        "a float",
        _makes_a_float,
        # The weights of an Accept header.
        lambda place: place == "edge/rest/negotiation.py",
        "money and sizes are decimals",
    ),
    Rule(
        "the end of a transaction",
        _ends_a_transaction,
        # Migrations run on a connection of their own.
        lambda place: place in {"db/transaction.py", "db/migrate.py"},
        "use db/transaction.py",
    ),
    Rule(
        "a dataclass",
        _makes_a_dataclass,
        lambda place: place in DATACLASSES,
        "make a Struct (docs/adr/0039-values-are-structs.md)",
    ),
]


@pytest.fixture(scope="module")
def nodes() -> Iterator[dict[str, list[ast.AST]]]:
    """What all source files consist of, without docstrings, by place."""
    # Every process of the tests imports this file: nodes that stood beside it would be made, and kept, in each.
    found = {
        path.relative_to(SOURCE).as_posix(): list(without_docstrings(ast.parse(path.read_text(encoding="utf-8"))))
        for path in SOURCE.rglob("*.py")
    }
    yield found
    found.clear()


def without_docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            docstrings.add(id(first.value) if isinstance(first, ast.Expr) else 0)
        if id(node) not in docstrings:
            yield node


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.what)
def test_code_that_matches_a_rule_is_only_in_its_allowed_files(rule: Rule, nodes: dict[str, list[ast.AST]]) -> None:
    strays = [
        f"{place}:{getattr(node, 'lineno', 0)}"
        for place, each in sorted(nodes.items())
        if not rule.home(place)
        for node in each
        if rule.found(node)
    ]
    assert not strays, f"{rule.what} outside its home: {rule.reason}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.what)
def test_each_rule_matches_code_in_its_allowed_files(rule: Rule, nodes: dict[str, list[ast.AST]]) -> None:
    assert any(rule.found(node) for place, each in nodes.items() if rule.home(place) for node in each)


def test_no_two_advisory_locks_have_the_same_number() -> None:
    register = (SOURCE / "db" / "advisory_locks.py").read_text(encoding="utf-8")
    numbers = re.findall(r"^[A-Z_]+ = .*?advisory_xact_lock(?:_shared)?\(([0-9]+)", register, re.MULTILINE)
    assert sorted(numbers) == [
        "4815162342",
        "7274301",
        "7274302",
        "7274302",
        "7274303",
        "7274304",
        "7274306",
        "7274307",
        "8",
        "8",
    ]  # shared and alone
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [number for number in numbers if f"| {int(number):,}" not in page] == []


# Large libraries that most processes do not need to start, and the only places that import them, when they need them.
IMPORTED_LATE = {
    "edge/command_line/output.py": "rich",
    "edge/command_line/progress.py": "rich",
    "edge/openapi/document.py": "yaml",
    "edge/page_kit/highlighting.py": "pygments",
    "edge/page_kit/markdown.py": "markdown_it",
    "letterhead/join_documents.py": "pypdf",
    "shipping/rules.py": "holidays",
}


def test_imports_stand_at_the_top_of_a_file(nodes: dict[str, list[ast.AST]]) -> None:
    strays = [
        f"{place}:{inner.lineno}"
        for place, each in sorted(nodes.items())
        for node in each
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom) and _library(inner) != IMPORTED_LATE.get(place)
    ]
    assert not strays


def _library(node: ast.Import | ast.ImportFrom) -> str:
    module = node.names[0].name if isinstance(node, ast.Import) else node.module or ""
    return module.partition(".")[0]
