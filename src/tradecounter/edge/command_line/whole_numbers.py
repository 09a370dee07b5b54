"""Makes commands read whole numbers as all other doors do: the library would accept `1_0`."""

from typing import Any

from tradecounter.edge.command_line.library import IntParamType, IntRange
from tradecounter.kit.numbers import UnreadableNumberError, read_count


class WholeNumber(IntRange):
    """A whole number between two bounds; it may have a sign where negative numbers are allowed."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the number in a text; numbers, such as defaults, stay as they are."""
        if isinstance(value, str):
            try:
                value = read_count(value, signed=self.min is None or self.min < 0)
            except UnreadableNumberError as error:
                self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


def with_whole_numbers(command: Any) -> Any:
    """Return a command whose whole numbers, and those of its subcommands, are read by `WholeNumber`."""
    for param in command.params:
        if isinstance(param.type, IntParamType):
            param.type = WholeNumber(min=getattr(param.type, "min", None), max=getattr(param.type, "max", None))
    for inner in getattr(command, "commands", {}).values():
        with_whole_numbers(inner)
    return command
