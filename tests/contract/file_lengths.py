"""Lists files and functions that have grown too long; part of `make check`. Status 1 when there are any."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = {"src": 400, "tests": 600, "rigs": 600, "bench": 400, "clients": 400}
_GENERATED = {"clients/python/src/tradecounter_client/models.py"}
MOST_FUNCTION_LINES = 60


def too_long() -> Iterator[str]:
    for folder, most in MOST_LINES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "migrations/versions" in path.as_posix() or path.relative_to(ROOT).as_posix() in _GENERATED:
                continue
            text = path.read_text()
            if (count := len(text.splitlines())) > most:
                yield f"{path.relative_to(ROOT)}: {count} lines, more than {most}"
            yield from long_functions(path, text)


def long_functions(path: Path, text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # Counted from the first statement: a command's options are its signature, however many it has.
            count = (node.end_lineno or 0) - node.body[0].lineno + 1
            if count > MOST_FUNCTION_LINES:
                yield f"{path.relative_to(ROOT)}:{node.lineno}: {node.name} has {count} lines"


if __name__ == "__main__":
    found = list(too_long())
    sys.stdout.writelines(f"{line}\n" for line in found)
    sys.exit(bool(found))
