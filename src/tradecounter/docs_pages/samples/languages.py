"""Writes request samples in the programming languages that customers use."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from tradecounter.docs_pages.samples.plan import Plan, Request

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
    key: Callable[[str], str]
    text: Callable[[str], str]
    opening: str = "{"
    closing: str = "}"
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


def _javascript_key(key: str) -> str:
    return key if re.fullmatch(r"[a-zA-Z_]\w*", key) else in_double_quotes(key)


PYTHON = Syntax(
    step="    ",
    key=lambda key: f"{in_double_quotes(key)}: ",
    text=in_double_quotes,
    true="True",
    false="False",
    null="None",
)
JAVASCRIPT = Syntax(
    step="  ", key=lambda key: f"{_javascript_key(key)}: ", text=in_double_quotes, padding=" ", template=("`", "${")
)
JSON = Syntax(step="  ", key=lambda key: f"{in_double_quotes(key)}: ", text=in_double_quotes, trailing="")
PHP = Syntax(
    step="    ",
    opening="[",
    closing="]",
    key=lambda key: f"{in_single_quotes(key)} => ",
    text=in_single_quotes,
    template=('"', "{$"),
)


_CURL_HEADERS = {
    "X-Api-Key": '-H "X-Api-Key: $KEY"',
    "Token": '-H "Authorization: Bearer $TOKEN"',
    "Accept": '-H "Accept: application/json"',
}
_CURL_BREAK = " \\\n  "


def curl_sample(plan: Plan) -> str:
    """Return the shell commands that send a plan's requests."""
    if plan.first is None:
        return "curl " + _CURL_BREAK.join(_curl_parts(plan.last))
    lines = [f"created=$(curl {_CURL_BREAK.join(_curl_parts(plan.first))})", ""]
    for name, steps in plan.taken.items():
        pointer = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        lines.append(f"{_curl_variable(name)}=$(echo \"$created\" | jq -r '{pointer}')")
    return "\n".join([*lines, "", "curl " + _CURL_BREAK.join(_curl_parts(plan.last))])


def _curl_parts(request: Request) -> list[str]:
    address = re.sub(r"\{(\w+)\}", lambda match: f"${_curl_variable(match[1])}", request.url)
    method = [] if request.method == "GET" else ["-X", request.method]
    parts = [" ".join(["-sS --fail-with-body", *method]), f'"{address}"']
    parts += request.headers(_CURL_HEADERS)
    if request.idempotency_prefix:
        parts.append(f'-H "Idempotency-Key: {request.idempotency_prefix}-$(date +%s)"')
    if request.json is not None:
        parts += ['-H "Content-Type: application/json"', f"-d {_curl_quoted(JSON.write(request.json, '  '))}"]
    if request.form is not None:
        parts.append('-u "$CLIENT_ID:$CLIENT_SECRET"')
        parts += [f"-d {name}={_curl_form_value(name, value)}" for name, value in request.form.items()]
    if request.response == "pdf":
        parts.append("-o invoice.pdf")
    return parts


def _curl_variable(name: str) -> str:
    """Return the name of the shell variable for a parameter: `order_item_id` for `orderItemId`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _curl_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _curl_form_value(name: str, value: str) -> str:
    return f'"${FROM_ENVIRONMENT[name]}"' if name in FROM_ENVIRONMENT else value


_PYTHON_INDENT = "    "
_PYTHON_HEADERS = {
    "X-Api-Key": '"X-Api-Key": os.environ["KEY"]',
    "Token": '"Authorization": "Bearer " + os.environ["TOKEN"]',
    "Accept": '"Accept": "application/json"',
    "Idempotency-Key": '"Idempotency-Key": str(uuid.uuid4())',
}
_PYTHON_SHOWN = {
    "json": "print(response.json())",
    "text": "print(response.text)",
    "nothing": "print(response.status_code)",
    "pdf": 'Path("invoice.pdf").write_bytes(response.content)',
}


def python_sample(plan: Plan) -> str:
    """Return the program that sends a plan's requests."""
    requests = [plan.last] if plan.first is None else [plan.first, plan.last]
    imports = []
    if any(request.with_key or request.form for request in requests):
        imports.append("import os")
    if any(request.idempotency_prefix for request in requests):
        imports.append("import uuid")
    if plan.last.response == "pdf":
        imports.append("from pathlib import Path")
    lines = [*imports, "", "import requests", ""] if imports else ["import requests", ""]
    if plan.first is not None:
        lines += [*_python_sent("created", plan.first), ""]
        for name, steps in plan.taken.items():
            lines.append(
                f"{_python_variable(name)} = created.json(){''.join(f'[{_python_index(step)}]' for step in steps)}"
            )
        lines.append("")
    return "\n".join([*lines, *_python_sent("response", plan.last), _PYTHON_SHOWN[plan.last.response]])


def _python_sent(variable: str, request: Request) -> list[str]:
    address = re.sub(r"\{(\w+)\}", lambda match: f"{{{_python_variable(match[1])}}}", request.address)
    prefix = "f" if "{" in address else ""
    lines = [
        f"{variable} = requests.{request.method.lower()}(",
        f"{_PYTHON_INDENT}{prefix}{in_double_quotes(address)},",
    ]
    if request.query:
        lines.append(f"{_PYTHON_INDENT}params={PYTHON.write(request.query, _PYTHON_INDENT)},")
    if headers := request.headers(_PYTHON_HEADERS):
        lines.append(f"{_PYTHON_INDENT}headers={{{', '.join(headers)}}},")
    if request.json is not None:
        lines.append(f"{_PYTHON_INDENT}json={PYTHON.write(request.json, _PYTHON_INDENT)},")
    if request.form is not None:
        lines.append(f'{_PYTHON_INDENT}auth=(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]),')
        fields = PYTHON.write_form(request.form, _PYTHON_INDENT, lambda name: f'os.environ["{name}"]')
        lines.append(f"{_PYTHON_INDENT}data={fields},")
    return [
        *lines,
        f"{_PYTHON_INDENT}timeout=30,",
        ")",
        f"if not {variable}.ok:",
        f"{_PYTHON_INDENT}raise SystemExit({variable}.text)",
    ]


def _python_variable(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _python_index(step: str | int) -> str:
    return in_double_quotes(step) if isinstance(step, str) else str(step)


_JAVASCRIPT_SHOWN = {
    "json": "console.log(await response.json());",
    "text": "console.log(await response.text());",
    "nothing": "console.log(response.status);",
    "pdf": 'await writeFile("invoice.pdf", Buffer.from(await response.arrayBuffer()));',
}

_JAVASCRIPT_HEADERS = {
    "X-Api-Key": '"X-Api-Key": process.env.KEY',
    "Token": '"Authorization": "Bearer " + process.env.TOKEN',
    "Authorization": 'Authorization: "Basic " + btoa(`${process.env.CLIENT_ID}:${process.env.CLIENT_SECRET}`)',
    "Accept": 'Accept: "application/json"',
    "Content-Type": '"Content-Type": "application/json"',
    "Idempotency-Key": '"Idempotency-Key": crypto.randomUUID()',
}


def javascript_sample(plan: Plan) -> str:
    """Return the module that sends a plan's requests."""
    lines = ['import { writeFile } from "node:fs/promises";', ""] if plan.last.response == "pdf" else []
    if plan.first is not None:
        lines += [*_javascript_sent("created", plan.first), "const body = await created.json();"]
        for name, steps in plan.taken.items():
            place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            lines.append(f"const {name} = body{place};")
        lines.append("")
    return "\n".join([*lines, *_javascript_sent("response", plan.last), _JAVASCRIPT_SHOWN[plan.last.response]])


def _javascript_sent(variable: str, request: Request) -> list[str]:
    options = _javascript_options(request)
    lines = [f"const {variable} = await fetch({JAVASCRIPT.write_address(request.url)}" + (", {" if options else ");")]
    lines += [f"  {option}," for option in options]
    if options:
        lines.append("});")
    return [*lines, f"if (!{variable}.ok) throw new Error(await {variable}.text());"]


def _javascript_options(request: Request) -> list[str]:
    options = [] if request.method == "GET" else [f'method: "{request.method}"']
    if headers := request.headers(_JAVASCRIPT_HEADERS):
        options.append(f"headers: {JAVASCRIPT.group(headers, '  ')}")
    if request.json is not None:
        options.append(f"body: JSON.stringify({JAVASCRIPT.write(request.json, '  ')})")
    if request.form is not None:
        fields = JAVASCRIPT.write_form(request.form, "  ", lambda name: f"process.env.{name}")
        options.append(f"body: new URLSearchParams({fields})")
    return options


_PHP_SHOWN = {
    "json": "print_r(json_decode($response, true));",
    "text": "echo $response;",
    "nothing": "echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE);",
    "pdf": "file_put_contents('invoice.pdf', $response);",
}

_PHP_HEADERS = {
    "X-Api-Key": "'X-Api-Key: ' . getenv('KEY')",
    "Token": "'Authorization: Bearer ' . getenv('TOKEN')",
    "Accept": "'Accept: application/json'",
    "Content-Type": "'Content-Type: application/json'",
    "Idempotency-Key": "'Idempotency-Key: ' . bin2hex(random_bytes(16))",
}


def php_sample(plan: Plan) -> str:
    """Return the program that sends a plan's requests."""
    lines = ["<?php"]
    if plan.first is not None:
        lines += [*_php_sent("$created", plan.first), "$created = json_decode($created, true);"]
        for name, steps in plan.taken.items():
            place = "".join(f"[{PHP.write(step)}]" for step in steps)
            lines.append(f"${name} = $created{place};")
        lines.append("")
    return "\n".join([*lines, *_php_sent("$response", plan.last), _PHP_SHOWN[plan.last.response]])


def _php_sent(variable: str, request: Request) -> list[str]:
    return [
        f"$curl = curl_init({PHP.write_address(request.url)});",
        "curl_setopt_array($curl, [",
        *(f"    {option}," for option in _php_options(request)),
        "]);",
        f"{variable} = curl_exec($curl);",
        f"if ({variable} === false) throw new RuntimeException(curl_error($curl));",
        f"if (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) >= 400) throw new RuntimeException({variable});",
    ]


def _php_options(request: Request) -> list[str]:
    options = ["CURLOPT_RETURNTRANSFER => true"]
    if request.method != "GET":
        options.append(f"CURLOPT_CUSTOMREQUEST => '{request.method}'")
    if headers := request.headers(_PHP_HEADERS):
        options.append(f"CURLOPT_HTTPHEADER => {PHP.group(headers, '    ')}")
    if request.form is not None:
        options.append("CURLOPT_USERPWD => getenv('CLIENT_ID') . ':' . getenv('CLIENT_SECRET')")
        fields = PHP.write_form(request.form, "    ", lambda name: f"getenv('{name}')")
        options.append(f"CURLOPT_POSTFIELDS => http_build_query({fields})")
    if request.json is not None:
        options.append(f"CURLOPT_POSTFIELDS => json_encode({PHP.write(request.json, '    ')})")
    return options


# For each language: the highlighter's name and the function that generates the sample.
LANGUAGES = {
    "curl": ("bash", curl_sample),
    "Python": ("python", python_sample),
    "JavaScript": ("javascript", javascript_sample),
    "PHP": ("php", php_sample),
}
