"""Samples for JavaScript with fetch, as a module of Node 18 or newer."""

from tradecounter.docs_pages.samples.literals import JAVASCRIPT
from tradecounter.docs_pages.samples.plan import Plan, Request

_SHOWN = {
    "json": "console.log(await response.json());",
    "text": "console.log(await response.text());",
    "nothing": "console.log(response.status);",
    "pdf": 'await writeFile("invoice.pdf", Buffer.from(await response.arrayBuffer()));',
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
    """Return the lines that send a request and throw the error's message when it fails."""
    options = _options(request)
    lines = [f"const {variable} = await fetch({_address(request)}" + (", {" if options else ");")]
    lines += [f"  {option}," for option in options]
    if options:
        lines.append("});")
    return [*lines, f"if (!{variable}.ok) throw new Error(await {variable}.text());"]


def _options(request: Request) -> list[str]:
    options = [] if request.method == "GET" else [f'method: "{request.method}"']
    headers = []
    if request.with_key:
        headers.append('"X-Api-Key": process.env.KEY')
    if request.form is not None:
        headers.append('Authorization: "Basic " + btoa(`${process.env.CLIENT_ID}:${process.env.CLIENT_SECRET}`)')
    if request.accept:
        headers.append(f'Accept: "{request.accept}"')
    if request.json is not None:
        headers.append('"Content-Type": "application/json"')
    if request.idempotency_prefix:
        headers.append('"Idempotency-Key": crypto.randomUUID()')
    if len(headers) == 1:
        options.append(f"headers: {{ {headers[0]} }}")
    elif headers:
        options.append("headers: {\n    " + ",\n    ".join(headers) + ",\n  }")
    if request.json is not None:
        options.append(f"body: JSON.stringify({JAVASCRIPT.write(request.json, '  ')})")
    if request.form is not None:
        fields = JAVASCRIPT.write(dict(request.form), "  ")
        token = JAVASCRIPT.text(request.form["subject_token"])
        options.append(f"body: new URLSearchParams({fields.replace(token, 'process.env.SUBJECT_TOKEN')})")
    return options


def _address(request: Request) -> str:
    if "{" not in request.url:
        return JAVASCRIPT.text(request.url)
    return "`" + request.url.replace("{", "${") + "`"
