"""Maps the columns of a table's header to the rows' fields."""

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

import msgspec
from msgspec import Struct, field

from tradecounter.bulk.cells import ReadCell, cell_reader
from tradecounter.kit.text import fold

WHAT_IS_WRONG = "what_is_wrong"  # the column that `bad_rows` adds; no import reads it
_GAPS = re.compile(r"[\s_-]+")


class ColumnOptions(Struct, frozen=True):
    """How columns are mapped to fields.

    Attributes:
        renamed: the field of each column whose name differs from the field's name.
        ignore_unknown: whether columns without a field are ignored instead of being errors.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    ignore_unknown: bool = False


class Column(Struct, frozen=True):
    """A mapped column: its place in the header, its field's name, and the function that reads its cells."""

    place: int
    name: str
    read: ReadCell


class Header(Struct):
    """A header's columns.

    Attributes:
        columns: the columns that are mapped to fields.
        unnamed: the places of columns without a name.
        unknown: the names of columns without a field.
        errors: why the table cannot be read.
    """

    columns: list[Column] = field(default_factory=list)
    unnamed: list[int] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def normal_name(name: str) -> str:
    """Return a column's name in a form for comparison: `Single Unit-Cost` becomes `single_unit_cost`."""
    return _GAPS.sub("_", fold(name.strip()))


def renamed_columns(pairs: Iterable[str], fields: Collection[str]) -> dict[str, str]:
    """Return the field of each column from texts such as `Unit price=single_unit_cost`. Raises ValueError."""
    renamed = {}
    for pair in pairs:
        theirs, sign, ours = (part.strip() for part in pair.rpartition("="))
        if not sign or not theirs:
            raise ValueError(f"{pair!r}: must be THEIRS=OURS: the file's column and the field")
        if ours not in fields:
            raise ValueError(f"{pair!r}: {ours!r} is not one of {', '.join(fields)}")
        renamed[theirs] = ours
    return renamed


def known_columns(header: Sequence[str], shape: type[msgspec.Struct], options: ColumnOptions) -> int:
    """Return the number of columns with a field."""
    known = {f.encode_name for f in msgspec.structs.fields(shape)} | set(map(normal_name, options.renamed))
    return sum(1 for name in header if normal_name(name) in known)


def read_header(
    names: Sequence[str], shape: type[msgspec.Struct], options: ColumnOptions, *, commas: bool = True
) -> Header:
    """Return the columns mapped to fields, with all errors of the header; without `commas`, numbers have none."""
    if not any(names):
        return Header(errors=["the file is empty: the first line must have column names"])
    fields = {f.encode_name: f for f in msgspec.structs.fields(shape)}
    renamed = {normal_name(theirs): ours for theirs, ours in options.renamed.items()}
    header = Header()
    taken = dict[str, str]()
    seen = set[str]()
    for place, name in enumerate(names):
        normal = normal_name(name)
        ours = renamed.get(normal, normal)
        if normal == WHAT_IS_WRONG:
            continue
        if not normal:
            header.unnamed.append(place)
        elif normal in seen:
            header.errors.append(f"column {name!r} appears twice")
        elif ours not in fields or (normal not in renamed and ours in renamed.values()):
            header.unknown.append(name.strip())
        elif ours in taken:
            header.errors.append(f"columns {taken[ours]!r} and {name!r} are both {ours}")
        else:
            taken[ours] = name
            header.columns.append(Column(place, ours, cell_reader(fields[ours].type, commas=commas)))
        seen.add(normal)
    present = set(map(normal_name, names))
    header.errors += [f"there is no column {n!r} to map" for n in options.renamed if normal_name(n) not in present]
    missing = [name for name, f in fields.items() if name not in taken]
    if not options.ignore_unknown:
        header.errors += _unknown(header.unknown, fields, missing)
    header.errors += [f"there is no column for {name}" for name in missing if fields[name].required]
    if header.errors:
        header.errors.append(f"the columns may be {', '.join(fields)}")
    return header


def _unknown(names: Sequence[str], fields: Container[str], candidates: Sequence[str]) -> Iterator[str]:
    for name in names:
        normal = normal_name(name)
        near = get_close_matches(normal, candidates, n=1)
        if normal in fields:
            yield f"column {name!r} has no field: another column is mapped to {normal}"
        else:
            yield f"column {name!r} is unknown" + (f"; did you mean {near[0]}?" if near else "")
