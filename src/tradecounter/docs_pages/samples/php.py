"""Samples for PHP with its curl extension."""

from tradecounter.docs_pages.samples.literals import PHP
from tradecounter.docs_pages.samples.plan import Plan, Request

_SHOWN = {
    "json": "print_r(json_decode($response, true));",
    "text": "echo $response;",
    "nothing": "echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE);",
    "pdf": "file_put_contents('invoice.pdf', $response);",
}

_HEADERS = {
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
        lines += [*_sent("$created", plan.first), "$created = json_decode($created, true);"]
        for name, steps in plan.taken.items():
            place = "".join(f"[{PHP.write(step)}]" for step in steps)
            lines.append(f"${name} = $created{place};")
        lines.append("")
    return "\n".join([*lines, *_sent("$response", plan.last), _SHOWN[plan.last.response]])


def _sent(variable: str, request: Request) -> list[str]:
    return [
        f"$curl = curl_init({PHP.write_address(request.url)});",
        "curl_setopt_array($curl, [",
        *(f"    {option}," for option in _options(request)),
        "]);",
        f"{variable} = curl_exec($curl);",
        f"if ({variable} === false) throw new RuntimeException(curl_error($curl));",
        f"if (curl_getinfo($curl, CURLINFO_RESPONSE_CODE) >= 400) throw new RuntimeException({variable});",
    ]


def _options(request: Request) -> list[str]:
    options = ["CURLOPT_RETURNTRANSFER => true"]
    if request.method != "GET":
        options.append(f"CURLOPT_CUSTOMREQUEST => '{request.method}'")
    if headers := request.headers(_HEADERS):
        options.append(f"CURLOPT_HTTPHEADER => {PHP.group(headers, '    ')}")
    if request.form is not None:
        options.append("CURLOPT_USERPWD => getenv('CLIENT_ID') . ':' . getenv('CLIENT_SECRET')")
        fields = PHP.write_form(request.form, "    ", lambda name: f"getenv('{name}')")
        options.append(f"CURLOPT_POSTFIELDS => http_build_query({fields})")
    if request.json is not None:
        options.append(f"CURLOPT_POSTFIELDS => json_encode({PHP.write(request.json, '    ')})")
    return options
