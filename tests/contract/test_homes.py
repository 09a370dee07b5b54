"""What may stand in one place only does: the clock, the environment, SQL, floats, commits; imports stand at the top."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tradecounter"

# Where a file's whole purpose is its statements: these names, everything in `db` and `bulk`, and the small stores of
# slices that need no more than one.
SQL_FILES = {"importing.py", "lookup.py", "queries.py", "records.py", "store.py"}
SQL_PLACES = {
    "credit/exposure.py",
    "customers/accounts.py",
    "customers/addresses.py",
    "customers/terms.py",
    "identity/oauth/access_tokens.py",
    "identity/api_keys.py",
    "identity/oauth/applications.py",
    "identity/failures.py",
    "identity/request_counts.py",
    "identity/secret_fingerprints.py",
    "ordering/allocate_back_orders.py",
    "ordering/expected_dates.py",
    "ordering/standing.py",
    "shipping/methods.py",
    "stock/allocation.py",
}

_STATEMENT = re.compile(
    r"^\s*(select|insert\s+into|update|delete\s+from|with|create|alter|drop|truncate|copy|lock\s+table|set\s+transaction)"
    r"\s+[a-z_{%('0-9]"
)

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


def _makes_a_float(node: ast.AST) -> bool:
    return _call(node) == "float"


def _ends_a_transaction(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and bool(_END.match(node.value))
    name = _call(node)
    return name.endswith((".commit", ".rollback")) or name in {"connection.transaction", "engine.begin", "Rollback"}


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
        # The server hands the database's URL to the processes that it starts, which read their settings anew.
        lambda place: place in {"settings.py", "web/server.py"},
        "add a setting",
    ),
    Rule(
        "SQL",
        _is_sql,
        lambda place: (
            place in SQL_PLACES or place.startswith(("db/", "bulk/")) or place.rpartition("/")[2] in SQL_FILES
        ),
        "give the statement a typed function in the slice's store.py, queries.py, lookup.py or records.py",
    ),
    Rule(
        "a float",
        _makes_a_float,
        # The weights of an Accept header.
        lambda place: place == "rest/negotiation.py",
        "money and sizes are decimals",
    ),
    Rule(
        "the end of a transaction",
        _ends_a_transaction,
        # Migrations run on a connection of their own.
        lambda place: place in {"db/transaction.py", "db/migrate.py"},
        "use db/transaction.py",
    ),
]


def places() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


TREES = dict(places())


def occurrences(tree: ast.Module, found: Callable[[ast.AST], bool]) -> list[int]:
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [getattr(node, "lineno", 0) for node in ast.walk(tree) if id(node) not in docstrings and found(node)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.what)
def test_it_stands_in_its_home_and_nowhere_else(rule: Rule) -> None:
    strays = [
        f"{place}:{line}"
        for place, tree in TREES.items()
        if not rule.home(place)
        for line in occurrences(tree, rule.found)
    ]
    assert not strays, f"{rule.what} outside its home: {rule.reason}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.what)
def test_it_is_found_where_it_is_at_home(rule: Rule) -> None:
    assert any(occurrences(tree, rule.found) for place, tree in TREES.items() if rule.home(place))


@pytest.mark.parametrize("place", sorted(SQL_PLACES))
def test_every_place_named_for_sql_holds_some(place: str) -> None:
    assert occurrences(TREES[place], _is_sql)


def test_imports_stand_at_the_top_of_a_file() -> None:
    strays = [
        f"{place}:{inner.lineno}"
        for place, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert not strays
