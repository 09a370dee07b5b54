"""Forms that pages show: their values and their errors."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.edge.page_kit.forms import form_name, row_numbers
from tradecounter.edge.page_kit.submitted_forms import Submitted
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid_fields

_ELEMENT = re.compile(r"(?P<list>\w+)\[(?P<number>\d+)\]\.(?P<field>\w+)")


class Filled(Struct, frozen=True):
    """The values and the errors of a form that a page shows. A form that is shown for the first time is empty.

    Attributes:
        labels: the labels of the fields that a template has shown so far, for the list of errors.
        files: the names of the fields whose files were sent; browsers do not keep files.
    """

    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    status: int = 200
    labels: dict[str, str] = field(default_factory=dict)
    files: frozenset[str] = frozenset()

    def named(self, name: str, label: str) -> str:
        """Record a field's label, and return it."""
        self.labels[name] = label
        return label

    def value(self, name: str, default: Any = "") -> str:
        """Return the value of a field; the default if the form was not sent yet."""
        values = self.values.get(name)
        if values:
            return values[-1]
        return "" if self.values or default is None else str(default)

    def rows(self, name: str) -> list[int]:
        """Return the numbers of a group's rows; none if the form was not sent yet."""
        return row_numbers(self.values, name)

    def has(self, name: str, value: str, *, default: bool = False) -> bool:
        """Return whether a box or an option is selected; the default if the form was not sent yet."""
        return value in self.values.get(name, ()) if self.values else default

    def error(self, name: str) -> str:
        """Return the error of a field; empty if it is valid."""
        return self.errors.get(name, "")

    def errors_in_order(self) -> list[tuple[str, str]]:
        """Return the wrong fields with their errors, in the order in which the page has shown its fields."""
        names = list(self.labels)
        return sorted(self.errors.items(), key=lambda each: names.index(each[0]) if each[0] in names else len(names))

    @classmethod
    def of(cls, submitted: Submitted, error: DomainError, status: int) -> "Filled":
        """Return a sent form with an error. Its message has the errors of fields that the form does not have."""
        errors: dict[str, str] = {}
        others = []
        for field_error in error.field_errors:
            # An object in JSON may be its id in the form, or the other way round.
            place = form_name(field_error.field)
            names = [place, place.removesuffix("-id"), f"{place}-id"]
            name = next((each for each in names if each in submitted.values or each in submitted.files), None)
            if name is not None:
                errors.setdefault(name, field_error.message)
            else:
                others.append(str(field_error))
        if not error.field_errors:
            others.append(error.message)
        return cls(submitted.values, errors, "; ".join(others), status, files=frozenset(submitted.files))

    def with_error(self, error: DomainError, *kinds: Kind) -> "Filled":
        """Return the form of a page's query with an error. Raises it unless it is invalid or one of `kinds`."""
        if error.kind not in {Kind.INVALID, *kinds}:
            raise error
        return Filled.of(Submitted(self.values), error, STATUS[error.kind])


def in_rows(name: str, numbers: Sequence[int], fields: Mapping[str, str]) -> Callable[[str], str]:
    """Return the function for `named_by` that names places by the form's rows, of which some made the request.

    `numbers` are those of the rows that became the list `name`; `fields` has the form's names of an element's fields.
    """

    def place(given: str) -> str:
        match = _ELEMENT.match(given)
        if match is None or match["list"] != name or int(match["number"]) >= len(numbers):
            return given
        name_of_field = match["field"]
        return f"{name}[{numbers[int(match['number'])]}].{fields.get(name_of_field, name_of_field)}"

    return place


@contextmanager
def without_copies(copy: str, original: str, *, copied: bool) -> Iterator[None]:
    """Run a block. If a part of the request was `copied` from another, leave out the copy's errors."""
    try:
        yield
    except DomainError as error:
        if not copied or not error.field_errors:
            raise
        others = [field_error for field_error in error.field_errors if not field_error.field.startswith(copy)]
        if not others:
            raise invalid_fields([replace(error.field_errors[0], field=original)]) from error
        raise DomainError(error.kind, "; ".join(map(str, others)), field_errors=others) from error


@contextmanager
def listed_apart(field_errors: list[FieldError]) -> Iterator[None]:
    """Run a block; move the field errors of its DomainError to a list that the page shows apart."""
    try:
        yield
    except DomainError as error:
        if not error.field_errors:
            raise
        field_errors.extend(error.field_errors)
        raise DomainError(error.kind, error.message, code=error.code) from error
