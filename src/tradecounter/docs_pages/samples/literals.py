"""Writes JSON values as literals of programming languages."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

# The fields of forms whose values a program has from an earlier step.
FROM_ENVIRONMENT = {
    "subject_token": "SUBJECT_TOKEN",
    "code": "CODE",
    "code_verifier": "CODE_VERIFIER",
    "token": "REFRESH_TOKEN",
}
_WIDE = 60  # characters; longer objects and lists are split into lines


class Syntax(Struct, frozen=True):
    """A language's syntax for values."""

    step: str
    opening: str
    closing: str
    key: Callable[[str], str]
    text: Callable[[str], str]
    true: str = "true"
    false: str = "false"
    null: str = "null"
    padding: str = ""  # inside the braces of an object on one line
    trailing: str = ","  # after the last of several lines
    template: tuple[str, str] = ("", "")  # a string with variables: its quotes, and the start of a variable

    def write(self, value: Any, indent: str = "") -> str:
        """Return a JSON value as a literal; lines after the first begin with `indent`."""
        if isinstance(value, Mapping):
            parts = [f"{self.key(k)}{self.write(v, indent + self.step)}" for k, v in value.items()]
            return self.group(parts, indent)
        if isinstance(value, list):
            parts = [self.write(v, indent + self.step) for v in value]
            return self._group(parts, "[", "]", indent)
        if isinstance(value, bool):
            return self.true if value else self.false
        if isinstance(value, str):
            return self.text(value)
        return self.null if value is None else json.dumps(value)

    def write_form(self, form: Mapping[str, str], indent: str, read: Callable[[str], str]) -> str:
        """Return a form's fields; `read` returns the expression that reads a variable of the environment."""
        text = self.write(form, indent)
        for name, variable in FROM_ENVIRONMENT.items():
            if name in form:
                text = text.replace(self.text(form[name]), read(variable))
        return text

    def write_address(self, url: str) -> str:
        """Return a URL literal in which each `{name}` is a variable."""
        quote, variable = self.template
        return quote + url.replace("{", variable) + quote if "{" in url else self.text(url)

    def group(self, parts: list[str], indent: str) -> str:
        """Return an object with these members, on one line if it is short."""
        return self._group(parts, self.opening, self.closing, indent)

    def _group(self, parts: list[str], opening: str, closing: str, indent: str) -> str:
        padding = self.padding if opening != "[" else ""
        line = f"{opening}{padding}{', '.join(parts)}{padding}{closing}"
        if "\n" not in line and len(line) <= _WIDE:
            return line
        inner = f"\n{indent}{self.step}"
        return f"{opening}{inner}" + f",{inner}".join(parts) + f"{self.trailing}\n{indent}{closing}"


def in_double_quotes(text: str) -> str:
    """Return a string literal for JSON, JavaScript and Python."""
    return json.dumps(text, ensure_ascii=False)


def in_single_quotes(text: str) -> str:
    """Return a string literal for PHP."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _bare(key: str) -> str:
    return key if re.fullmatch(r"[a-zA-Z_]\w*", key) else in_double_quotes(key)


PYTHON = Syntax("    ", "{", "}", lambda key: f"{in_double_quotes(key)}: ", in_double_quotes, "True", "False", "None")
JAVASCRIPT = Syntax("  ", "{", "}", lambda key: f"{_bare(key)}: ", in_double_quotes, padding=" ", template=("`", "${"))
JSON = Syntax("  ", "{", "}", lambda key: f"{in_double_quotes(key)}: ", in_double_quotes, trailing="")
PHP = Syntax("    ", "[", "]", lambda key: f"{in_single_quotes(key)} => ", in_single_quotes, template=('"', "{$"))
