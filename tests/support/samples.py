"""Running the samples of the reference with the programs that customers have."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = {"curl": ("bash", "curl", "jq"), "Python": (sys.executable,), "JavaScript": ("node",), "PHP": ("php",)}
_ENDINGS = {"curl": "sh", "Python": "py", "JavaScript": "mjs", "PHP": "php"}

# Node and Python take long to start: one process runs all samples, each as a program of its own.
_NODE = """
import { readdirSync } from "node:fs";
const results = {}, log = console.log;
for (const file of readdirSync(".").filter((name) => name.endsWith(".mjs")).sort()) {
  const lines = [];
  console.log = (value) => lines.push(typeof value === "string" ? value : JSON.stringify(value));
  try { await import(`${process.cwd()}/${file}`); results[file] = [0, lines.join("\\n")]; }
  catch (error) { results[file] = [1, String(error)]; }
}
log(JSON.stringify(results));
"""
_PYTHON = """
import contextlib, io, json, pathlib, runpy
results = {}
for file in sorted(pathlib.Path().glob("*.py")):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(file), run_name="__main__")
        results[file.name] = [0, printed.getvalue()]
    except BaseException as error:
        results[file.name] = [1, repr(error)]
print(json.dumps(results))
"""


@dataclass(frozen=True)
class Outcome:
    """How a sample ended, and what it printed."""

    status: int
    text: str


def missing_programs() -> dict[str, list[str]]:
    """The programs that are not there, by the language of the samples that need them."""
    missing = {name: [p for p in programs if shutil.which(p) is None] for name, programs in PROGRAMS.items()}
    return {name: programs for name, programs in missing.items() if programs}


def run_samples(
    language: str, samples: Mapping[str, str], folder: Path, environment: Mapping[str, str]
) -> dict[str, Outcome]:
    """Run the samples of a language, by operation."""
    ending = _ENDINGS[language]
    for name, code in samples.items():
        (folder / f"{name}.{ending}").write_text(code)
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | dict(environment)
    if language in {"curl", "PHP"}:
        program = PROGRAMS[language][0]
        return {name: _one([program, f"{name}.{ending}"], folder, known) for name in samples}
    line = [sys.executable, "-c", _PYTHON] if language == "Python" else ["node", "--input-type=module", "-e", _NODE]
    done = subprocess.run(line, cwd=folder, env=known, capture_output=True, text=True, timeout=120, check=True)
    found = json.loads(done.stdout)
    return {name: Outcome(*found[f"{name}.{ending}"]) for name in samples}


def _one(line: list[str], folder: Path, environment: Mapping[str, str]) -> Outcome:
    done = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return Outcome(done.returncode, done.stdout + (done.stderr if done.returncode else ""))
