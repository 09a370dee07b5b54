"""The clients' models and errors are those of the interface document."""

import json
import re

import pytest

from support.client_models import (
    DOCUMENT,
    PHP,
    PHP_FINGERPRINT,
    PYTHON,
    TYPESCRIPT,
    php_fingerprint,
    python_models,
    typescript_models,
)
from support.node_packages import installed
from tradecounter.kit.errors import Code

PACKAGES = installed()

# Of the issuer of consent and of those who run the service.
LEFT_OUT = ("/auth/", "/.well-known/", "/openapi.", "/check-health", "/ready")


TYPESCRIPT_SOURCES = TYPESCRIPT.parent
WRITTEN = {
    "python": [PYTHON.parent / f"{name}.py" for name in ("client", "catalogue_sync", "credentials")],
    "typescript": [TYPESCRIPT_SOURCES / f"{name}.ts" for name in ("client", "sync", "credentials")],
    "php": [PHP / f"{name}.php" for name in ("Tradecounter", "CatalogueSync", "Auth/Consent")],
}


def test_the_python_models_are_as_new_as_the_document() -> None:
    assert PYTHON.read_text() == python_models(), "run `make docs`"


@pytest.mark.sweep
@pytest.mark.skipif(PACKAGES is None, reason="needs npm; the summary says so")
def test_the_typescript_models_are_as_new_as_the_document() -> None:
    assert PACKAGES is not None
    assert TYPESCRIPT.read_text() == typescript_models(PACKAGES), "run `make docs`"


def test_the_php_models_are_made_of_the_document() -> None:
    """`tests/clients/test_php.py` makes them again."""
    assert PHP_FINGERPRINT.read_text() == php_fingerprint(), "run `make docs`, which needs Java"


def test_each_code_is_a_class_of_error() -> None:
    python = re.findall(r'^    code = "(\w+)"$', (PYTHON.parent / "errors.py").read_text(), re.MULTILINE)
    typescript = re.findall(r"^  (\w+): \w+,$", (TYPESCRIPT_SOURCES / "errors.ts").read_text(), re.MULTILINE)
    php = re.findall(r"^        '(\w+)' => \w+::class,$", (PHP / "errors.php").read_text(), re.MULTILINE)
    assert sorted(python) == sorted(typescript) == sorted(php) == sorted([*Code, "unauthorized"])


@pytest.mark.parametrize("path", json.loads(DOCUMENT.read_text())["paths"])
def test_the_clients_call_every_operation_for_customers(path: str) -> None:
    if path == "/" or path.startswith(LEFT_OUT):
        return
    for language, files in WRITTEN.items():
        text = re.sub(r"\$?{[^}\n]*}|%s", "{}", "".join(file.read_text() for file in files))
        assert re.search(rf"""["'`]{re.escape(re.sub(r"{[^}]*}", "{}", path))}["'`]""", text), language
