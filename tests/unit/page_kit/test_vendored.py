"""Files from the npm registry are those that its packages contain."""

import base64
import hashlib
import json
import re
from importlib.resources import files

import pytest

STATIC = files("tradecounter.edge.page_kit").joinpath("static")
VENDORED = json.loads(STATIC.joinpath("vendored.json").read_text(encoding="utf-8"))
_INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")


@pytest.mark.parametrize("name", VENDORED)
def test_a_vendored_file_is_the_one_of_its_package(name: str) -> None:
    entry = VENDORED[name]
    digest = hashlib.sha512(STATIC.joinpath(name).read_bytes()).digest()
    assert entry["file"] == f"sha512-{base64.b64encode(digest).decode()}"
    assert _INTEGRITY.fullmatch(entry["integrity"])
    assert (
        entry["address"] == f"https://registry.npmjs.org/{entry['package']}/-/{entry['package']}-{entry['version']}.tgz"
    )


def test_htmx_has_the_version_in_the_list() -> None:
    script = STATIC.joinpath("htmx.js").read_text(encoding="utf-8")
    assert f"this.version = '{VENDORED['htmx.js']['version']}'" in script
