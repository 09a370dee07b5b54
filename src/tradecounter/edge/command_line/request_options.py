"""Makes a command's options from the struct of its request, as forms and bodies are read from it.

A field's name is the option's, its type says how a text is read, its description is the help. A value that the struct
rejects gets the message that it gets at the other doors, with the option's name.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from types import GenericAlias
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec
import typer
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from tradecounter.edge.command_line.arguments import number, one_of, read_day, since
from tradecounter.edge.command_line.session import reporting_errors
from tradecounter.kit.errors import invalid_fields
from tradecounter.kit.numbers import NumberField, alternatives, metas, number_of
from tradecounter.kit.validation_messages import field_errors_of

Command = Callable[..., None]
Reader = Callable[[str], Any]
Request = TypeVar("Request", bound=Struct)


class Option(Struct, frozen=True):
    """What a command says of a field otherwise than the struct does.

    `name` is an option's, `--trade/--no-trade`, or an argument's, in capitals. `read` parses a text, and an element of
    a list; of an element that is a struct it returns the fields. A field with a `default` is not required.
    """

    name: str = ""
    help: str = ""
    metavar: str = ""
    read: Reader | None = None
    default: Any = None


class Typed(Struct, frozen=True):
    """The fields of a list's element, and the text that they were read from, by which errors name it."""

    text: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text


_AS_THE_STRUCT_SAYS = Option()


def takes_request(
    *, required: Sequence[str] = (), leave_out: Sequence[str] = (), **said: Option
) -> Callable[[Command], Command]:
    """Give a command an option for each field of its request, the parameter whose type is a struct.

    Fields that were not given have the struct's defaults. `required` are fields that the struct does not require,
    `leave_out` are those that the command makes itself.
    """

    def decorate(command: Command) -> Command:
        own = signature(command).parameters.values()
        [request] = [each for each in own if isinstance(each.annotation, type) and issubclass(each.annotation, Struct)]
        taken = [each for each in fields(request.annotation) if each.name not in leave_out]
        if unknown := {*said, *required} - {each.name for each in taken}:
            raise TypeError(f"{request.annotation.__name__} has no field {', '.join(sorted(unknown))}")

        @wraps(command)
        def run(**values: Any) -> None:
            named = {each.encode_name: values.pop(each.name) for each in taken}
            given = {name: _as_read(value) for name, value in named.items() if value not in (None, [])}
            with reporting_errors():
                values[request.name] = read_request(given, request.annotation)
            command(**values)

        made = [
            _parameter(each, said.get(each.name, _AS_THE_STRUCT_SAYS), required=each.name in required) for each in taken
        ]
        parameters = [new for each in own for new in (made if each is request else [each])]
        run.__signature__ = Signature(  # type: ignore[attr-defined]  # Typer reads it
            [each.replace(kind=Parameter.KEYWORD_ONLY) for each in parameters]
        )
        return run

    return decorate


def read_request(given: Mapping[str, Any], shape: type[Request]) -> Request:
    """Return the request with these fields. Raises DomainError (invalid) with all that its struct rejects."""
    if errors := list(field_errors_of(given, shape)):
        raise invalid_fields(errors)
    return msgspec.convert(given, shape)


def _as_read(value: Any) -> Any:
    return [each.fields if isinstance(each, Typed) else each for each in value] if isinstance(value, list) else value


def _parameter(field: FieldInfo, said: Option, *, required: bool) -> Parameter:
    """Return the parameter that Typer makes the option or the argument of."""
    name = said.name or f"--{field.encode_name.replace('_', '-')}"
    is_argument = not name.startswith("-")
    options = alternatives(field.type)
    default = said.default
    if default is None and isinstance(field.default, str | bool) and field.default != "":
        default = field.default
    is_required = (required or (field.default is NODEFAULT and field.default_factory is NODEFAULT)) and default is None
    listed = next((each for each in options if get_origin(each) is list), None)
    element = field.type if listed is None else get_args(listed)[0]
    kind, settings = _kind(element, said.read, listed=listed is not None)
    settings["metavar"] = name if is_argument else said.metavar or settings["metavar"]
    settings["help"] = said.help or _help(field)
    if is_argument:
        found = typer.Argument(**settings)
    elif kind is bool and default is None and not said.name:
        found = typer.Option(f"{name}/--no-{name.removeprefix('--')}", **settings)
    else:
        found = typer.Option(name, **settings)
    return Parameter(
        field.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if is_required else default,
        annotation=Annotated[kind if listed is None else GenericAlias(list, kind), found],
    )


def _kind(annotation: Any, read: Reader | None, *, listed: bool) -> tuple[Any, dict[str, Any]]:
    """Return a value's type for Typer, with how it is read and what the help calls it."""
    options = alternatives(annotation)
    wanted = number_of(annotation)
    choice = next((each for each in options if get_origin(each) is Literal), None)
    found: tuple[Any, dict[str, Any]] = (str, {"metavar": "TEXT"})
    if read is not None:
        parser = partial(_typed, read) if _is_struct(options) else read
        found = Any, {"parser": parser, "metavar": "D" if {date, datetime} & set(options) else "TEXT"}
    elif bool in options:
        found = bool, {"metavar": None}
    elif choice is not None and listed:  # Typer has no lists of choices
        found = Any, {"parser": one_of(get_args(choice)), "metavar": "WORD"}
    elif choice is not None:
        found = choice, {"metavar": None}
    elif wanted is not None and wanted.kind == "count":
        found = int, {**_bounds(metas(annotation)), "metavar": "N"}
    elif wanted is not None:
        found = Decimal, {"parser": partial(_read_number, wanted), "metavar": _METAVARS[wanted.kind]}
    elif datetime in options:
        found = datetime, {"parser": since, "metavar": "D"}
    elif date in options:
        found = date, {"parser": read_day, "metavar": "D"}
    return found


def _is_struct(options: Sequence[Any]) -> bool:
    return any(isinstance(each, type) and issubclass(each, Struct) for each in options)


def _typed(read: Reader, text: str) -> Typed:
    return Typed(text, read(text))


_METAVARS = {"pounds": "AMOUNT", "percent": "PERCENT", "measure": "NUMBER"}


def _read_number(wanted: NumberField, text: str) -> Decimal | int:
    return number(wanted.read, text)


def _bounds(found: Sequence[msgspec.Meta]) -> dict[str, int]:
    least = [int(meta.ge) for meta in found if meta.ge is not None]
    most = [int(meta.le) for meta in found if meta.le is not None]
    return {name: bounds[-1] for name, bounds in (("min", least), ("max", most)) if bounds}


def _help(field: FieldInfo) -> str:
    """Return the field's description. Raises ValueError without one: a command explains its options."""
    found = [meta.description for meta in metas(field.type) if meta.description]
    if not found:
        raise ValueError(f"the field {field.name} has no description")
    return found[-1]
