"""The clients' models, as generators make them of the interface document; `make docs` writes them.

A client reads responses of later releases too, so its models name fields and types, and judge no values: that is the
service's work.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from support import openapi_generator
from support.node_packages import installed

_ROOT = Path(__file__).parents[2]
DOCUMENT = _ROOT / "docs" / "openapi.json"
TYPESCRIPT = _ROOT / "clients" / "typescript" / "src" / "schema.ts"
PYTHON = _ROOT / "clients" / "python" / "src" / "tradecounter_client" / "models.py"
PHP = _ROOT / "clients" / "php" / "src"
PHP_FINGERPRINT = _ROOT / "clients" / "php" / "generator" / "fingerprint"  # of what the models are made of

_OPTIONS = (
    "--input-file-type=openapi", "--openapi-scopes=schemas", "--output-model-type=msgspec.Struct",
    "--base-class=tradecounter_client.base.Model", "--target-python-version=3.11", "--keyword-only",
    "--strict-nullable", "--use-schema-description", "--use-field-description", "--use-attribute-docstrings",
    "--use-single-line-docstring", "--use-standard-collections", "--use-union-operator", "--no-use-annotated",
    "--disable-timestamp", "--formatters=builtin",
)  # fmt: skip
_PHP_OPTIONS = (
    "--generator-name=php-nextgen", "--global-property=models,modelDocs=false,modelTests=false",
    "--type-mappings=date=string,DateTime=string",
    r"--additional-properties=invokerPackage=Tradecounter\Client,variableNamingConvention=original,srcBasePath=src",
)  # fmt: skip
_NAMES = {"FieldError.field": "field"}  # the generator avoids the name of msgspec's function
_JUDGING = frozenset(
    ("maxLength", "minLength", "maxItems", "minItems", "maximum", "minimum", "pattern", "enum", "const", "examples",
     "if", "then", "x-extensible-enum")
)  # fmt: skip


def python_models() -> str:
    """A struct for each schema, in which absent fields are None and numbers are decimal."""
    # `nullable` of OpenAPI 3.0 is what has the generator write None for absent fields.
    lean = _tolerant(_lean("3.0.3"))
    with tempfile.TemporaryDirectory() as folder:
        source, target, names = Path(folder, "openapi.json"), Path(folder, "models.py"), Path(folder, "names.json")
        source.write_text(json.dumps(lean))
        names.write_text(json.dumps(_NAMES))
        generator = (sys.executable, "-m", "datamodel_code_generator", "--aliases", names)
        subprocess.run((*generator, "--input", source, "--output", target, *_OPTIONS), check=True)
        return target.read_text()


def _lean(version: str) -> dict[str, Any]:
    """The document's schemas without what judges values."""
    document = json.loads(DOCUMENT.read_text())
    components = {"schemas": _without_judgement(document["components"]["schemas"])}
    return {"openapi": version, "info": document["info"], "components": components, "paths": {}}


def _without_judgement(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_judgement(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in _JUDGING}
    if kept.get("additionalProperties") is True:  # which says no more than its absence
        del kept["additionalProperties"]
    return {name: _without_judgement(value) for name, value in kept.items()}


def _tolerant(schema: Any) -> Any:
    """A schema whose optional properties may be null, and whose numbers are decimal."""
    if isinstance(schema, list):
        return [_tolerant(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _tolerant(value) for name, value in schema.items()}
    if isinstance(schema.get("properties"), dict):
        required = schema.get("required", [])
        kept["properties"] = {
            name: value if name in required else _nullable(value) for name, value in kept["properties"].items()
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


def php_fingerprint() -> str:
    """Tells without Java whether the models are made of the present document and templates."""
    templates = sorted(PHP_FINGERPRINT.parent.glob("*.mustache"))
    made_of = [json.dumps(_lean("3.1.0")), *_PHP_OPTIONS, *(template.read_text() for template in templates)]
    return hashlib.sha256("\0".join(made_of).encode()).hexdigest() + "\n"


def php_models() -> dict[str, str]:
    """A class for each schema, by its file's name; needs Java and openapi-generator."""
    jar = openapi_generator.jar()
    assert jar is not None
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "openapi.json")
        source.write_text(json.dumps(_lean("3.1.0")))
        command = ("java", "-Dlog.level=error", "-jar", jar, "generate", "--input-spec", source, "--output", folder)
        templates = ("--template-dir", PHP_FINGERPRINT.parent)
        subprocess.run((*command, *templates, *_PHP_OPTIONS), check=True, capture_output=True)
        made = sorted(Path(folder, "src", "Model").glob("*.php"))
        return {file.name: file.read_text().rstrip() + "\n" for file in made}


def write() -> None:
    PYTHON.write_text(python_models())
    if openapi_generator.without():
        sys.stderr.write("LEFT OUT: the models of clients/php; without Java or the dependency group generators\n")
    else:
        shutil.rmtree(PHP / "Model", ignore_errors=True)
        (PHP / "Model").mkdir()
        for name, text in php_models().items():
            (PHP / "Model" / name).write_text(text)
        PHP_FINGERPRINT.write_text(php_fingerprint())
    if (packages := installed()) is not None:
        TYPESCRIPT.write_text(typescript_models(packages))


if __name__ == "__main__":
    write()
