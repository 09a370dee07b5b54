"""A service imports what it serves: the start of a process costs mostly imports."""

import subprocess
import sys

import pytest

from support.command_line import without_settings

pytestmark = pytest.mark.sweep

LIBRARIES = {"alembic", "croniter", "opentelemetry", "procrastinate", "pypdf", "sqlalchemy"}
BACK_OFFICE = {"tradecounter.imports", "tradecounter.sites.back_office_pages", "tradecounter.sites.back_office"}
WORKER = {"tradecounter.jobs.watch", "tradecounter.sites.worker"}
DEMO = {"tradecounter.demo"}


def imported(module: str) -> set[str]:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=without_settings(), capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("tradecounter.sites.commands.serve", LIBRARIES | BACK_OFFICE | WORKER | DEMO),
        (
            "tradecounter.sites.commands.backoffice",
            {"alembic", "opentelemetry", "procrastinate", "pypdf"} | WORKER | DEMO,
        ),
        (
            "tradecounter.sites.commands.worker",
            {"alembic", "opentelemetry", "pypdf", "tradecounter.sites.back_office"} | DEMO,
        ),
        (
            "tradecounter.storefront.lay_out_in_subprocess",
            LIBRARIES | BACK_OFFICE | WORKER | DEMO | {"jinja2", "typst"},
        ),
    ],
)
def test_a_service_does_not_import_what_only_others_need(module: str, unneeded: set[str]) -> None:
    found = imported(module)
    assert module in found
    assert found & unneeded == set()
