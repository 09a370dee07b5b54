"""Samples for Python with the package requests."""

import re

from tradecounter.docs_pages.samples.literals import PYTHON, in_double_quotes
from tradecounter.docs_pages.samples.plan import Plan, Request

_STEP = "    "
_HEADERS = {
    "X-Api-Key": '"X-Api-Key": os.environ["KEY"]',
    "Token": '"Authorization": "Bearer " + os.environ["TOKEN"]',
    "Accept": '"Accept": "application/json"',
    "Idempotency-Key": '"Idempotency-Key": str(uuid.uuid4())',
}
_SHOWN = {
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
        lines += [*_sent("created", plan.first), ""]
        for name, steps in plan.taken.items():
            lines.append(f"{_variable(name)} = created.json(){''.join(f'[{_index(step)}]' for step in steps)}")
        lines.append("")
    return "\n".join([*lines, *_sent("response", plan.last), _SHOWN[plan.last.response]])


def _sent(variable: str, request: Request) -> list[str]:
    address = re.sub(r"\{(\w+)\}", lambda match: f"{{{_variable(match[1])}}}", request.address)
    prefix = "f" if "{" in address else ""
    lines = [f"{variable} = requests.{request.method.lower()}(", f"{_STEP}{prefix}{in_double_quotes(address)},"]
    if request.query:
        lines.append(f"{_STEP}params={PYTHON.write(request.query, _STEP)},")
    if headers := request.headers(_HEADERS):
        lines.append(f"{_STEP}headers={{{', '.join(headers)}}},")
    if request.json is not None:
        lines.append(f"{_STEP}json={PYTHON.write(request.json, _STEP)},")
    if request.form is not None:
        lines.append(f'{_STEP}auth=(os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]),')
        fields = PYTHON.write_form(request.form, _STEP, lambda name: f'os.environ["{name}"]')
        lines.append(f"{_STEP}data={fields},")
    return [*lines, f"{_STEP}timeout=30,", ")", f"if not {variable}.ok:", f"{_STEP}raise SystemExit({variable}.text)"]


def _variable(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _index(step: str | int) -> str:
    return in_double_quotes(step) if isinstance(step, str) else str(step)
