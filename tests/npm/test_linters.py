"""Spectral (`spectral:oas`) and Redocly (`recommended`) find no fault in the interface document."""

import copy
import json
import subprocess
from dataclasses import dataclass

import pytest

from support.interface import Document, interface_document
from support.node_packages import SOURCE, installed

pytestmark = pytest.mark.long


@dataclass
class Findings:
    """The linters' findings on the interface document and on a faulty one."""

    of_ours: list[str]
    of_the_faulty: list[str]


def faulty() -> Document:
    document = copy.deepcopy(interface_document())
    del document["info"]["license"], document["paths"]["/product"]["get"]["operationId"]
    return document


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("linters")
    packages = installed()
    assert packages is not None
    (folder / "node_modules").symlink_to(packages / "node_modules")
    (folder / "lint.mjs").write_bytes((SOURCE / "lint.mjs").read_bytes())
    for name, document in (("ours.json", interface_document()), ("faulty.json", faulty())):
        (folder / name).write_text(json.dumps(document))
    command = ("node", "lint.mjs", "ours.json", "faulty.json")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Findings(*json.loads(done.stdout))


def test_the_linters_find_nothing(findings: Findings) -> None:
    assert findings.of_ours == []


def test_the_linters_find_faults(findings: Findings) -> None:
    for finding in ("Spectral operation-operationId ", "Redocly info-license "):
        assert any(found.startswith(finding) for found in findings.of_the_faulty), findings.of_the_faulty
