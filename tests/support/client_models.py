"""The clients' models, as generators make them of the interface document; `make docs` writes them.

A client reads responses of later releases too, so its models name fields and types, and judge no values: that is the
service's work.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from support.node_packages import installed

_ROOT = Path(__file__).parents[2]
DOCUMENT = _ROOT / "docs" / "openapi.json"
TYPESCRIPT = _ROOT / "clients" / "typescript" / "src" / "schema.ts"
PYTHON = _ROOT / "clients" / "python" / "src" / "tradecounter_client" / "models.py"

_OPTIONS = (
    "--input-file-type=openapi", "--openapi-scopes=schemas", "--output-model-type=msgspec.Struct",
    "--base-class=tradecounter_client.base.Model", "--target-python-version=3.11", "--keyword-only",
    "--strict-nullable", "--use-schema-description", "--use-field-description", "--use-attribute-docstrings",
    "--use-single-line-docstring", "--use-standard-collections", "--use-union-operator", "--no-use-annotated",
    "--disable-timestamp", "--formatters=builtin",
)  # fmt: skip
_NAMES = {"FieldError.field": "field"}  # the generator avoids the name of msgspec's function
_JUDGING = frozenset(
    ("maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "pattern", "enum", "const", "examples",
     "if", "then", "x-extensible-enum")
)  # fmt: skip


def python_models() -> str:
    """A struct for each schema, in which absent fields are None and numbers are decimal."""
    document = json.loads(DOCUMENT.read_text())
    schemas = {name: _tolerant(schema) for name, schema in document["components"]["schemas"].items()}
    # `nullable` of OpenAPI 3.0 is what has the generator write None for absent fields.
    lean = {"openapi": "3.0.3", "info": document["info"], "components": {"schemas": schemas}, "paths": {}}
    with tempfile.TemporaryDirectory() as folder:
        source, target, names = Path(folder, "openapi.json"), Path(folder, "models.py"), Path(folder, "names.json")
        source.write_text(json.dumps(lean))
        names.write_text(json.dumps(_NAMES))
        generator = (sys.executable, "-m", "datamodel_code_generator", "--aliases", names)
        subprocess.run((*generator, "--input", source, "--output", target, *_OPTIONS), check=True)
        return target.read_text()


def _tolerant(schema: Any) -> Any:
    """A schema without what judges values, whose optional properties may be null."""
    if isinstance(schema, list):
        return [_tolerant(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _tolerant(value) for name, value in schema.items() if name not in _JUDGING}
    if isinstance(schema.get("properties"), dict):
        required = schema.get("required", [])
        kept["properties"] = {
            name: _tolerant(value) if name in required else _nullable(_tolerant(value))
            for name, value in schema["properties"].items()
        }
    kind = schema.get("type")
    if "number" in (kind if isinstance(kind, list) else [kind]):
        kept["format"] = "decimal"
    return kept


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        described = {"description": schema["description"]} if "description" in schema else {}
        return {**described, "allOf": [{"$ref": schema["$ref"]}], "nullable": True}
    return {**schema, "nullable": True}


def typescript_models(packages: Path) -> str:
    """A type for each schema and operation; `packages` are those of `tests/npm/`."""
    generator = packages / "node_modules" / ".bin" / "openapi-typescript"
    command = (generator, DOCUMENT, "--root-types", "--root-types-no-schema-prefix", "--default-non-nullable=false")
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write() -> None:
    PYTHON.write_text(python_models())
    if (packages := installed()) is not None:
        TYPESCRIPT.write_text(typescript_models(packages))


if __name__ == "__main__":
    write()
