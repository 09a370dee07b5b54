"""Private names of Typer, imported only here, so that a new version of Typer needs changes in one place."""

from typer._click.exceptions import NoSuchOption
from typer._click.globals import get_current_context
from typer._click.shell_completion import CompletionItem
from typer._click.types import IntParamType, IntRange
from typer._types import TyperChoice

__all__ = ["CompletionItem", "IntParamType", "IntRange", "NoSuchOption", "TyperChoice", "get_current_context"]
