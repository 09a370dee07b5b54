"""The specification's sections, and the tests that prove each of their rules.

`@pytest.mark.spec(SECTION, RULE)` on a test says what it proves. `make docs` writes all marks to
`docs/specification-table.md`, and `tests/contract/test_specification.py` compares the two.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SECTIONS = (
    "1 General rules",
    "1 Content negotiation",
    "1 Pagination",
    "2 Product",
    "2 Order",
    "2 Order request",
    "2 CustomerAddress",
    "2 Customer",
    "2 CreditOverview",
    "2 Reference data",
    "2 OrderVideoResponse, Error, OAuthError",
    "3 POST /order, to be confirmed",
    "3 POST /order, confirmed at once",
    "3 POST /order, confirmed at once without a method",
    "3 POST /quote",
    "3 PUT /order/{reference}, in time",
    "3 PUT /order/{reference}, expired",
    "3 PUT /order/{reference}, without a method",
    "3 pending, by time",
    "4 GET /",
    "4 GET /check-health",
    "4 GET /ready",  # an addition
    "4 GET /openapi.json, GET /openapi.yaml",
    "4 GET /product",
    "4 GET /product/{sku}",
    "4 GET /order",
    "4 POST /order",
    "4 GET /order/{reference}",
    "4 PUT /order/{reference}",
    "4 POST /order/{reference}/item/{orderItemId}/configuration",
    "4 GET /order/{reference}/video",
    "4 GET /order/{reference}/invoice",
    "4 POST /quote",
    "4 GET /customer",
    "4 GET /customer/credit",
    "4 GET /customer/address",
    "4 POST /customer/address",
    "4 DELETE /customer/address/{id}",
    "4 GET /category",
    "4 GET /manufacturer",
    "4 GET /attribute",
    "4 POST /oauth/token",
    "5 Authentication",
    "6 Events",
    "7 Errors",
    "7 400",
    "7 401",
    "7 402",
    "7 403",
    "7 404",
    "7 409",
    "7 410",
    "7 412",
    "7 429",
    "7 500",
    "7 503",
    "7 504",
    "8 Page size",
    "8 Unpaginated CSV catalogue",
    "8 Price and stock cache",
    "8 Pending order lifetime",
    "8 Idempotency key",
    "8 Invalid-credential lockout",
    "8 Rate limit",
    "8 API key and bearer token length",
    "8 Order items",
    "8 Configurations",
    "8 Category depth",
    "8 Idempotency rules",
    "9 Versioning",
)

TESTS = Path(__file__).parents[1]

# The ids of tests, by section and rule.
Rules = dict[str, dict[str, list[str]]]


def marked_rules() -> Rules:
    """Read the marks from the source, which includes the tests that this machine leaves out."""
    rules: Rules = {section: {} for section in SECTIONS}
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        if "mark.spec(" in text:  # parsing every file would take a second
            for test, section, rule in marks_in(text):
                name = f"{path.relative_to(TESTS.parent)}::{test}"
                if section not in rules:
                    raise ValueError(f"{name}: no section {section!r}")
                rules[section].setdefault(rule, []).append(name)
    return rules


def marks_in(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield test, section and rule of each mark. Raise ValueError when a mark is not on a test."""
    tree = ast.parse(text)
    stray = {node for node in ast.walk(tree) if is_mark(node)}
    for name, test in tests_in(tree):
        for mark in test.decorator_list:
            if isinstance(mark, ast.Call) and mark in stray:
                stray.remove(mark)
                section, rule = (ast.literal_eval(argument) for argument in mark.args)
                yield name, section, rule
    if stray:
        raise ValueError(f"not on a test: {[ast.unparse(node) for node in stray]}")


def is_mark(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.spec")


def tests_in(scope: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Yield the tests and test classes with their names as in pytest's ids."""
    for node in scope.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield node.name, node
            yield from ((f"{node.name}::{name}", test) for name, test in tests_in(node))


def specification_table() -> str:
    """Return the page that `docs/specification-table.md` holds."""
    return "# The specification's rules and their tests\n\nWritten by `make docs`.\n" + "".join(
        f"\n## {section}\n\n" + "".join(f"- {rule}\n{lines(tests)}" for rule, tests in sorted(rules.items()))
        for section, rules in marked_rules().items()
    )


def lines(tests: list[str]) -> str:
    return "".join(f"  - `{test}`\n" for test in tests)


if __name__ == "__main__":
    sys.stdout.write(specification_table())
