"""Makes a command's options from the struct of its request, which forms and bodies are read into too.

A field's name becomes the option, its type decides how a text is read, its description is the help. If the struct
rejects a value, the message is the same as at the other doors, with the option's name.
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
from tradecounter.kit.numbers import alternatives, is_struct, metas, number_of
from tradecounter.kit.validation_messages import field_errors_of

Command = Callable[..., None]
Reader = Callable[[str], Any]
Request = TypeVar("Request", bound=Struct)


class Option(Struct, frozen=True):
    """What differs between an option and its field in the struct.

    `name` is an option's, such as `--trade/--no-trade`, or an argument's, in capitals. `read` parses a text, or the
    text of a list's element; for an element that is a struct, it returns the fields. A field with a `default` is not
    required.
    """

    name: str = ""
    help: str = ""
    metavar: str = ""
    read: Reader | None = None
    default: Any = None


class TypedElement(Struct, frozen=True):
    """The fields of a list's element, and the text that they were read from, with which errors name it."""

    text: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        return self.text


_AS_THE_STRUCT_SAYS = Option()


def takes_request(
    *, required: Sequence[str] = (), leave_out: Sequence[str] = (), **options: Option
) -> Callable[[Command], Command]:
    """Give a command an option for each field of its request, which is the parameter whose type is a struct.

    A field whose option is missing has the struct's default. `required` names fields that are required although the
    struct has a default. `leave_out` names fields that the command sets itself. `options` describes options that
    differ from what the struct says.
    """

    def decorate(command: Command) -> Command:
        own_parameters = signature(command).parameters.values()
        [request] = [parameter for parameter in own_parameters if is_struct(parameter.annotation)]
        option_fields = [field for field in fields(request.annotation) if field.name not in leave_out]
        if unknown := {*options, *required} - {field.name for field in option_fields}:
            raise TypeError(f"{request.annotation.__name__} has no field {', '.join(sorted(unknown))}")

        @wraps(command)
        def run(**values: Any) -> None:
            all_members = {field.encode_name: values.pop(field.name) for field in option_fields}
            members = {name: _as_read(value) for name, value in all_members.items() if value not in (None, [])}
            with reporting_errors():
                values[request.name] = read_request(members, request.annotation)
            command(**values)

        request_parameters = [
            _parameter(field, options.get(field.name, _AS_THE_STRUCT_SAYS), required=field.name in required)
            for field in option_fields
        ]
        parameters: list[Parameter] = []
        for parameter in own_parameters:
            parameters += request_parameters if parameter is request else [parameter]
        run.__signature__ = Signature(  # type: ignore[attr-defined]  # Typer reads it
            [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        return run

    return decorate


def read_request(members: Mapping[str, Any], shape: type[Request]) -> Request:
    """Return the request with these members. Raises DomainError (invalid) with all that its struct rejects."""
    if errors := list(field_errors_of(members, shape)):
        raise invalid_fields(errors)
    return msgspec.convert(members, shape)


def _as_read(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [element.fields if isinstance(element, TypedElement) else element for element in value]


def _parameter(field: FieldInfo, described: Option, *, required: bool) -> Parameter:
    """Return the parameter that Typer makes the option or the argument of."""
    name = described.name or f"--{field.encode_name.replace('_', '-')}"
    is_argument = not name.startswith("-")
    types = alternatives(field.type)
    default = described.default
    if default is None and isinstance(field.default, str | bool) and field.default != "":
        default = field.default
    is_required = (required or (field.default is NODEFAULT and field.default_factory is NODEFAULT)) and default is None
    listed = next((type_ for type_ in types if get_origin(type_) is list), None)
    element = field.type if listed is None else get_args(listed)[0]
    kind, settings = _kind(element, described.read, listed=listed is not None)
    settings["metavar"] = name if is_argument else described.metavar or settings["metavar"]
    settings["help"] = described.help or _help(field)
    if is_argument:
        option = typer.Argument(**settings)
    elif kind is bool and default is None and not described.name:
        option = typer.Option(f"{name}/--no-{name.removeprefix('--')}", **settings)
    else:
        option = typer.Option(name, **settings)
    return Parameter(
        field.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if is_required else default,
        annotation=Annotated[kind if listed is None else GenericAlias(list, kind), option],
    )


def _kind(annotation: Any, read: Reader | None, *, listed: bool) -> tuple[Any, dict[str, Any]]:
    """Return a value's type for Typer, with how it is read and what the help calls it."""
    options = alternatives(annotation)
    wanted = number_of(annotation)
    choice = next((option for option in options if get_origin(option) is Literal), None)
    kind: tuple[Any, dict[str, Any]] = (str, {"metavar": "TEXT"})
    if read is not None:
        parser = partial(_typed, read) if any(map(is_struct, options)) else read
        kind = Any, {"parser": parser, "metavar": "D" if {date, datetime} & set(options) else "TEXT"}
    elif bool in options:
        kind = bool, {"metavar": None}
    elif choice is not None and listed:  # Typer has no lists of choices
        kind = Any, {"parser": one_of(get_args(choice)), "metavar": "WORD"}
    elif choice is not None:
        kind = choice, {"metavar": None}
    elif wanted is not None and wanted.kind == "count":
        kind = int, {**_bounds(metas(annotation)), "metavar": "N"}
    elif wanted is not None:
        kind = Decimal, {"parser": partial(number, wanted.read), "metavar": _METAVARS[wanted.kind]}
    elif datetime in options:
        kind = datetime, {"parser": since, "metavar": "D"}
    elif date in options:
        kind = date, {"parser": read_day, "metavar": "D"}
    return kind


def _typed(read: Reader, text: str) -> TypedElement:
    return TypedElement(text, read(text))


_METAVARS = {"pounds": "AMOUNT", "percent": "PERCENT", "measure": "NUMBER"}


def _bounds(constraints: Sequence[msgspec.Meta]) -> dict[str, int]:
    least = [int(meta.ge) for meta in constraints if meta.ge is not None]
    most = [int(meta.le) for meta in constraints if meta.le is not None]
    return {name: bounds[-1] for name, bounds in (("min", least), ("max", most)) if bounds}


def _help(field: FieldInfo) -> str:
    """Return the field's description. Raises ValueError if it has none, because every option has help."""
    descriptions = [meta.description for meta in metas(field.type) if meta.description]
    if not descriptions:
        raise ValueError(f"the field {field.name} has no description")
    return descriptions[-1]
