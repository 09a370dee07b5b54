"""Samples for curl in a POSIX shell; those of two requests also use jq."""

import re

from tradecounter.docs_pages.samples.literals import FROM_ENVIRONMENT, JSON
from tradecounter.docs_pages.samples.plan import Plan, Request

_HEADERS = {
    "X-Api-Key": '-H "X-Api-Key: $KEY"',
    "Token": '-H "Authorization: Bearer $TOKEN"',
    "Accept": '-H "Accept: application/json"',
}
_BREAK = " \\\n  "


def curl_sample(plan: Plan) -> str:
    """Return the shell commands that send a plan's requests."""
    if plan.first is None:
        return "curl " + _BREAK.join(_parts(plan.last))
    lines = [f"created=$(curl {_BREAK.join(_parts(plan.first))})", ""]
    for name, steps in plan.taken.items():
        pointer = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        lines.append(f"{_variable(name)}=$(echo \"$created\" | jq -r '{pointer}')")
    return "\n".join([*lines, "", "curl " + _BREAK.join(_parts(plan.last))])


def _parts(request: Request) -> list[str]:
    address = re.sub(r"\{(\w+)\}", lambda match: f"${_variable(match[1])}", request.url)
    method = [] if request.method == "GET" else ["-X", request.method]
    parts = [" ".join(["-sS --fail-with-body", *method]), f'"{address}"']
    parts += request.headers(_HEADERS)
    if request.idempotency_prefix:
        parts.append(f'-H "Idempotency-Key: {request.idempotency_prefix}-$(date +%s)"')
    if request.json is not None:
        parts += ['-H "Content-Type: application/json"', f"-d {_quoted(JSON.write(request.json, '  '))}"]
    if request.form is not None:
        parts.append('-u "$CLIENT_ID:$CLIENT_SECRET"')
        parts += [f"-d {name}={_form_value(name, value)}" for name, value in request.form.items()]
    if request.response == "pdf":
        parts.append("-o invoice.pdf")
    return parts


def _variable(name: str) -> str:
    """Return the name of the shell variable for a parameter: `order_item_id` for `orderItemId`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _form_value(name: str, value: str) -> str:
    return f'"${FROM_ENVIRONMENT[name]}"' if name in FROM_ENVIRONMENT else value
