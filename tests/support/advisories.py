"""Asks for known vulnerabilities of everything that the program needs: `make audit`.

Ends with 0 when every package was asked about and nothing is known, 1 when something is known, and 2 when a package
could not be asked about. pip-audit itself ends with 1 in both cases.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

NOTHING_KNOWN, KNOWN, NOT_ASKED = 0, 1, 2

_CAUSE = re.compile(r"^[\w.]*(?:Error|ERROR)\w*:.+$", re.MULTILINE)
_REQUIREMENT = re.compile(r"^([\w.-]+)==", re.MULTILINE)


def main(requirements: Path, options: Sequence[str]) -> int:
    """Audit the pinned requirements of a file; print what is known, or why nobody could be asked."""
    wanted = {name.lower() for name in _REQUIREMENT.findall(requirements.read_text())}
    if not wanted:
        return _not_asked(f"{requirements} names no package")
    command = ["pip_audit", "--strict", "--require-hashes", "--disable-pip", "--progress-spinner=off", "--format=json"]
    done = subprocess.run(
        [sys.executable, "-m", *command, "--requirement", str(requirements), *options],
        text=True,
        capture_output=True,
        check=False,
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        causes = _CAUSE.findall(done.stderr) or done.stderr.strip().splitlines()[-1:]
        return _not_asked(causes[-1] if causes else f"pip-audit ended with {done.returncode}")
    asked = {each["name"].lower() for each in report["dependencies"] if "vulns" in each}
    if missing := wanted - asked:
        return _not_asked(f"no answer about {', '.join(sorted(missing))}")
    known = [(each, vulnerability) for each in report["dependencies"] for vulnerability in each["vulns"]]
    for package, vulnerability in known:
        fixed = ", ".join(vulnerability["fix_versions"]) or "no version yet"
        sys.stdout.write(f"{package['name']} {package['version']}: {vulnerability['id']}, mended in {fixed}\n")
    sys.stdout.write(f"{len(asked)} packages were asked about; {len(known) or 'no'} vulnerabilities are known\n")
    return KNOWN if known else NOTHING_KNOWN


def _not_asked(reason: str) -> int:
    sys.stderr.write(f"COULD NOT ASK, which is no result: {reason}\n")
    return NOT_ASKED


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
