"""Describes JSON schemas in words, and prepares the fields of bodies and parameters for the reference."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from tradecounter.edge.openapi.core import ADDITION

_ENDLESS = 2**53 - 1  # a technical maximum, which is not shown
_BOUNDS = (("minimum", "maximum", ""), ("minLength", "maxLength", " characters"), ("minItems", "maxItems", " elements"))


def type_of(schema: Mapping[str, Any], *, nullable: bool) -> str:
    """Return a schema's type in words; includes null if `nullable`."""
    if "$ref" in schema:
        return "object"
    if "anyOf" in schema:
        options = schema["anyOf"] if nullable else without_null(schema).get("anyOf", [without_null(schema)])
        return " or ".join(dict.fromkeys(type_of(option, nullable=nullable) for option in options))
    kind = schema.get("type", "any")
    if kind == "array":
        return "list of " + _plural(type_of(schema.get("items", {}), nullable=nullable))
    if isinstance(kind, list):
        return " or ".join(part for part in kind if nullable or part != "null")
    return "whole number" if kind == "integer" else str(kind)


def bounds_of(schema: Mapping[str, Any]) -> str:
    """Return a schema's allowed range, length or number of elements in words, or an empty string."""
    for option in (schema, *schema.get("anyOf", ())):
        for least, most, unit in _BOUNDS:
            low, high = option.get(least), option.get(most)
            if high is not None and high >= _ENDLESS:
                high = None
            if words := _range(low, high, unit):
                return words
    return ""


def without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without its null alternative."""
    if "anyOf" not in schema:
        return schema
    options = [option for option in schema["anyOf"] if option != {"type": "null"}]
    return options[0] if len(options) == 1 else {**schema, "anyOf": options}


def name_of(reference: str) -> str:
    """Return the component name in a `$ref`."""
    return reference.rpartition("/")[2]


def _range(low: float | None, high: float | None, unit: str) -> str:
    if high is not None and high == low:
        return f"{high}{unit}"
    if high is not None:
        return f"{low} to {high}{unit}" if low is not None else f"at most {high}{unit}"
    if low is None:
        return ""
    return f"at least {low}{unit.removesuffix('s') if low == 1 else unit}"


def _plural(kind: str) -> str:
    return " or ".join(f"{part}s" for part in kind.split(" or "))


_MISSING = object()


class Group(Struct, frozen=True):
    """An object's fields; `title` names the shape if a value has several shapes, else it is empty."""

    title: str
    fields: list["Field"]


class Field(Struct, frozen=True):
    """A field or a parameter; `added` means that it is beyond the API's core."""

    name: str
    anchor: str
    type: str
    note: str  # "required", "optional" or empty
    description: str
    added: bool
    bounds: str
    values: list[str]
    default: str
    example: str
    groups: list[Group] = field(default_factory=list)
    same_as: str = ""  # the name of a recursive schema, whose fields are not repeated

    @property
    def size(self) -> int:
        """The number of nested fields."""
        return sum(len(group.fields) for group in self.groups)


class FieldReader(Struct, frozen=True):
    """Reads schemas' fields; `request` means that clients send them."""

    schemas: Mapping[str, Any]
    request: bool

    def groups(
        self, schema: Mapping[str, Any], anchor: str, example: Any = None, above: tuple[str, ...] = ()
    ) -> list[Group]:
        """Return the fields of each shape of a schema or of an array's elements."""
        shapes = [(n, s) for n, s in self._shapes(schema) if n not in above and "properties" in s]
        groups = []
        for number, (name, shape) in enumerate(shapes, start=1):
            place = anchor if number == 1 else f"{anchor}-{number}"
            fields = [
                self._field(member, inner, f"{place}-{member}", shape, _member(example, member), (*above, name))
                for member, inner in shape["properties"].items()
            ]
            groups.append(Group(shape.get("description", "") if len(shapes) > 1 else "", fields))
        return groups

    def parameter(self, parameter: Mapping[str, Any], anchor: str) -> Field:
        """Return a request parameter as a field."""
        note = "required" if parameter.get("required") else ""
        return self._described(parameter["name"], parameter["schema"], anchor, note, parameter, ())

    def _field(
        self, name: str, schema: Mapping[str, Any], anchor: str, owner: Mapping[str, Any], example: Any,
        above: tuple[str, ...],
    ) -> Field:  # fmt: skip
        required = name in owner.get("required", ())
        note = ("required" if required else "") if self.request else ("" if required else "optional")
        return self._described(name, schema, anchor, note, {"example": example}, above)

    def _described(
        self, name: str, schema: Mapping[str, Any], anchor: str, note: str, given: Mapping[str, Any],
        above: tuple[str, ...],
    ) -> Field:  # fmt: skip
        example = given.get("example")
        if example is None:
            example = next(iter(schema.get("examples", ())), None)
        repeated = next((found for found, _ in self._shapes(schema) if found in above), "")
        default = schema.get("default", _MISSING)
        return Field(
            name=name,
            anchor=anchor,
            type=type_of(schema, nullable=not self.request),
            note=note,
            description=given.get("description") or self._description(schema),
            added=ADDITION in given or ADDITION in schema,
            bounds=bounds_of(schema),
            values=[str(value) for value in _enum(schema)],
            default="" if default in (_MISSING, None) or default == [] else _shown(default),
            example=_shown(example),
            groups=self.groups(schema, anchor, example, above),
            same_as=repeated,
        )

    def _description(self, schema: Mapping[str, Any]) -> str:
        if "description" in schema:
            return str(schema["description"])
        shapes = list(self._shapes(schema))
        return str(shapes[0][1].get("description", "")) if len(shapes) == 1 else ""

    def _shapes(self, schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the names and object schemas that a value or its elements can have."""
        for option in schema.get("anyOf", (schema,)):
            if "$ref" in option:
                name = name_of(option["$ref"])
                yield name, self.schemas[name]
            elif "items" in option:
                yield from self._shapes(option["items"])
            elif "properties" in option:
                yield "", option


def _member(example: Any, name: str) -> Any:
    """Return the named member of an example object, or of a list's first element."""
    while isinstance(example, list) and example:
        example = example[0]
    return example.get(name) if isinstance(example, Mapping) else None


def _enum(schema: Mapping[str, Any]) -> list[Any]:
    schema = without_null(schema)
    return list(schema.get("enum") or schema.get("items", {}).get("enum", ()))


def _shown(value: Any) -> str:
    """Return a plain value or a list of plain values as a string."""
    if value is None or isinstance(value, Mapping):
        return ""
    if isinstance(value, list):
        return ",".join(map(_shown, value)) if not any(isinstance(v, Mapping | list) for v in value) else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
