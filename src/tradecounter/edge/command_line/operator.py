"""Who runs a command, for the audit log."""

import os
import pwd

from tradecounter.kit.actor import Actor


def operator() -> Actor:
    """Return the command line's actor, named after the system user of this process."""
    user = os.geteuid()
    try:
        name = pwd.getpwuid(user).pw_name
    except KeyError:  # as in a container that runs with a number of its own
        name = f"user {user}"
    return Actor("command_line", name)
