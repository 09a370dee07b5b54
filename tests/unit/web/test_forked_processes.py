"""A forked process knows which process forked it."""

import subprocess
import sys

from support.command_line import without_settings

PROGRAM = """
import os, time
from tradecounter.web import fork_server
from tradecounter.web.api_processes import started_by

if os.fork():
    os._exit(0)
while os.getppid() == fork_server.PROCESS_ID:
    time.sleep(0.01)
print(started_by() == fork_server.PROCESS_ID)
"""


def test_a_process_that_was_not_forked_looks_for_its_parent() -> None:
    program = "import os; from tradecounter.web.api_processes import started_by; print(started_by() == os.getppid())"
    for preparation in ("", "import tradecounter.web.fork_server; "):
        done = subprocess.run(
            [sys.executable, "-c", preparation + program],
            env=without_settings(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout == "True\n"


def test_a_process_whose_fork_server_ended_right_after_the_fork_still_looks_for_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=without_settings(), capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
