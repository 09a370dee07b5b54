"""The guide's functions that verify webhooks accept what the worker sends, and nothing else."""

import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.guide import blocks
from tradecounter.webhooks.rules import new_webhook_secret, signed_headers

BODY = '{"id": "evt_1", "data": {"note": "\u00a3"}}'.encode()
_PYTHON = """
import json, sys
for s, h, b in json.load(sys.stdin):
    print(int(is_genuine(s, h, b.encode())))
"""
_PHP = """
foreach (json_decode(file_get_contents("php://stdin"), true) as [$s, $h, $b]) {
    echo (int) is_genuine($s, $h, $b), PHP_EOL;
}
"""
_NODE = """
import { readFileSync } from "node:fs";
for (const [s, h, b] of JSON.parse(readFileSync(0, "utf8"))) console.log(Number(isGenuine(s, h, b)));
"""
_CALLS = {
    "Python": ("python", [sys.executable], "py", _PYTHON),
    "PHP": ("php", ["php"], "php", _PHP),
    "Node": ("javascript", ["node"], "mjs", _NODE),
}


@pytest.mark.parametrize("language", [name for name, (_, [program], *_) in _CALLS.items() if shutil.which(program)])
def test_a_function_of_the_guide_verifies_signatures(language: str, tmp_path: Path) -> None:
    kind, command, ending, call = _CALLS[language]
    secret, former, now = new_webhook_secret(), new_webhook_secret(), int(time.time())
    good = signed_headers("evt_1", now, BODY, [secret, former])
    cases = [
        (secret, good, BODY),
        (former, good, BODY),
        (new_webhook_secret(), good, BODY),
        (secret, good, BODY + b" "),
        (secret, good | {"webhook-id": "evt_2"}, BODY),
        (secret, signed_headers("evt_1", now - 400, BODY, [secret]), BODY),
        *((none, signed_headers("evt_1", now, BODY, [none]), BODY) for none in ("", "whsec_", "whsec_c2hvcnQ=")),
    ]
    file = tmp_path / f"verify.{ending}"
    file.write_text(blocks(f"Verify in {language}")[kind] + call)
    given = json.dumps([[key, headers, body.decode()] for key, headers, body in cases])
    done = subprocess.run([*command, str(file)], input=given, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1", *"0000000"]


@pytest.mark.parametrize("program", [found for found in ["openssl"] if shutil.which(found)])
def test_the_request_that_tries_a_server_is_signed_as_ours_are(program: str) -> None:
    code = blocks("Try your server")["sh"]
    assert program in code
    given = subprocess.run(
        ["bash", "-euc", f"curl() {{ printf '%s\\0' \"$@\"; }}\n{code}"], capture_output=True, text=True, check=True
    ).stdout.split("\0")
    body = given[given.index("-d") + 1]
    headers = dict(value.split(": ", 1) for value in given if value.startswith("webhook-"))
    [secret] = re.findall(r"^SECRET=(\S+)$", code, re.MULTILINE)
    assert headers == signed_headers("evt_1", int(headers["webhook-timestamp"]), body.encode(), [secret])
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
    assert json.loads(body)["type"] == "order.cancelled"
