"""The files of `deploy/cluster`, as an operator would fill them in for these machines."""

import re
from collections.abc import Sequence
from pathlib import Path

from rigs.failover.namespaces import Machine

FOLDER = Path(__file__).parents[2] / "deploy" / "cluster"
DOMAIN = "internal"


def text(name: str, machines: Sequence[Machine]) -> str:
    """Return a file with the machines' addresses for their names."""
    found = (FOLDER / name).read_text()
    for machine in machines:
        found = found.replace(f"{machine.name}.{DOMAIN}", machine.address)
    # The load comes without TLS, which is no part of what fails here.
    found = re.sub(r"^# Browsers keep no session.*?(?=^frontend public)", "", found, flags=re.MULTILINE | re.DOTALL)
    found = found.replace("bind :443 ssl", "bind :80 ssl")
    found = re.sub(r" ssl crt /etc/haproxy/\S+ alpn \S+", "", found)
    assert f".{DOMAIN}" not in found, f"{name} names a machine that does not exist"
    return found


def environment(name: str, machines: Sequence[Machine], own: Machine) -> dict[str, str]:
    """Return the variables of the file of the first machine, with the name and the addresses of another."""
    found = {}
    for line in (FOLDER / name).read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[key] = value if "CLUSTER" in key else value.replace(machines[0].name, own.name)
    return {key: _addressed(value, machines) for key, value in found.items()}


def _addressed(value: str, machines: Sequence[Machine]) -> str:
    for machine in machines:
        value = value.replace(f"{machine.name}.{DOMAIN}", machine.address)
    return value
