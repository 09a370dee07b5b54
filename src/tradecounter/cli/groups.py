"""Groups of commands: how their help lists them."""

from typing import Any

from typer.core import TyperGroup


class CommandGroup(TyperGroup):
    """A group whose help gives each command's whole description, where the library cuts it off after one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the names and descriptions of the commands."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _description(command)) for name, command in commands if command is not None])


def _description(command: Any) -> str:
    """Return the first paragraph of a command's help, on one line."""
    return " ".join((command.help or "").partition("\n\n")[0].split())
