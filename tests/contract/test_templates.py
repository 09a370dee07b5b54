"""The templates of both sites as they are written, whether or not a page of a test shows them."""

import re
from importlib.resources import files
from pathlib import Path

_SLICES = Path(str(files("tradecounter")))


def test_every_macro_that_a_template_names_by_its_file_exists() -> None:
    for path in _SLICES.glob("*/pages/templates/*/*.html"):
        for folder, file, macro in re.findall(r"\b([a-z][a-z_]*)__([a-z_]+)\.(\w+)", path.read_text()):
            found = "".join(each.read_text() for each in _SLICES.glob(f"{folder}/pages/templates/*/{file}.html"))
            assert f"{{% macro {macro}(" in found, f"{path}: {folder}/{file}.html has no {macro}"
