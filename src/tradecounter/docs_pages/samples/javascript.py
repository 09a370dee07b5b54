"""Samples for JavaScript with fetch, as a module of Node 18 or newer."""

from tradecounter.docs_pages.samples.literals import JAVASCRIPT
from tradecounter.docs_pages.samples.plan import Plan, Request

_SHOWN = {
    "json": "console.log(await response.json());",
    "text": "console.log(await response.text());",
    "nothing": "console.log(response.status);",
    "pdf": 'await writeFile("invoice.pdf", Buffer.from(await response.arrayBuffer()));',
}

_HEADERS = {
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
        lines += [*_sent("created", plan.first), "const body = await created.json();"]
        for name, steps in plan.taken.items():
            place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
            lines.append(f"const {name} = body{place};")
        lines.append("")
    return "\n".join([*lines, *_sent("response", plan.last), _SHOWN[plan.last.response]])


def _sent(variable: str, request: Request) -> list[str]:
    options = _options(request)
    lines = [f"const {variable} = await fetch({JAVASCRIPT.write_address(request.url)}" + (", {" if options else ");")]
    lines += [f"  {option}," for option in options]
    if options:
        lines.append("});")
    return [*lines, f"if (!{variable}.ok) throw new Error(await {variable}.text());"]


def _options(request: Request) -> list[str]:
    options = [] if request.method == "GET" else [f'method: "{request.method}"']
    if headers := request.headers(_HEADERS):
        options.append(f"headers: {JAVASCRIPT.group(headers, '  ')}")
    if request.json is not None:
        options.append(f"body: JSON.stringify({JAVASCRIPT.write(request.json, '  ')})")
    if request.form is not None:
        fields = JAVASCRIPT.write_form(request.form, "  ", lambda name: f"process.env.{name}")
        options.append(f"body: new URLSearchParams({fields})")
    return options
