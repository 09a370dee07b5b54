"""What the declaration of an operation may say."""

from typing import TypedDict

from tradecounter.edge.permissions import KeyScope
from tradecounter.edge.rest.operation import ErrorResponse, Link, Sample


class Options(TypedDict, total=False):
    """What an operation says of itself where it differs from its subject; see `Operation`."""

    description: str
    errors: tuple[ErrorResponse, ...]
    links: tuple[Link, ...]
    referenced: tuple[type, ...]
    sample: Sample
    scope: str
    other_scopes: tuple[str, ...]
    roles: tuple[str, ...]
    cacheable: bool
    key_scopes: tuple[KeyScope, ...]
