"""The examples of the operators' guide about imports run as they stand, one after the other."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command_line import Forker, Program
from support.guide import operators_page

CHAPTER = operators_page("imports")

_BLOCK = re.compile(r"^```(?P<kind>[^\n]+)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str]]:
    for block in _BLOCK.finditer(CHAPTER):
        yield block["kind"], block["content"]


@pytest.fixture(scope="module")
def tradecounter(database_url: str, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(Path(tmp_path_factory.mktemp("guide")), database_url, forker)


def test_every_example_does_what_the_guide_says(tradecounter: Program) -> None:
    printed, commands, compared = "", 0, 0
    for kind, content in blocks():
        if (file := kind.partition("csv file=")[2]) != "":
            (tradecounter.folder / file).write_text(content)
        elif kind.startswith("sh"):
            for line in content.replace("\\\n", " ").splitlines():
                program, *words = shlex.split(line)
                assert program == "tradecounter"
                done = tradecounter.run(*words)
                assert done.status == ("fails" in kind), (line, done)
                printed, commands = done.err + done.out if done.status else done.out, commands + 1
        elif kind == "text":
            assert printed == content
            compared += 1
    assert (commands, compared) == (19, 2)
