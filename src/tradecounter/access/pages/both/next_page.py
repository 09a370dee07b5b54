"""Where a browser goes after a sign-in: a path of the same site, whatever the address says."""

import re

_LONGEST = 2_000
# One slash, then printable ASCII without a backslash, which browsers read as a slash. Two slashes begin a host.
_PATH = re.compile(r"/(?:[!-.0-\[\]-~][!-\[\]-~]*)?")


def safe_path(wanted: str, default: str) -> str:
    """Return a path of this site, or the default for anything else."""
    return wanted if len(wanted) <= _LONGEST and _PATH.fullmatch(wanted) else default
