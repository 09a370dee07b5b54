"""Clients that openapi-python-client generates from interface documents, imported as they come."""

import importlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any


class GeneratedClient:
    """A generated package: its operations are attributes, such as `get_order`."""

    def __init__(self, package: str, folder: Path, warnings: list[str]) -> None:
        self.package, self.warnings = package, warnings
        found = (folder / package / "api").glob("*/*.py")
        self._operations = {path.stem: f"{package}.api.{path.parent.name}.{path.stem}" for path in found}
        self.models = importlib.import_module(f"{package}.models")
        self.types = importlib.import_module(f"{package}.types")
        self.client = importlib.import_module(f"{package}.client")

    def __getattr__(self, operation: str) -> ModuleType:
        if operation not in self._operations:
            raise AttributeError(operation)
        return importlib.import_module(self._operations[operation])

    @contextmanager
    def connected(self, url: str, **options: Any) -> Iterator[Any]:
        """The package's client with a credential, for a service at a URL."""
        timeout = self.client.httpx.Timeout(30)
        with self.client.AuthenticatedClient(base_url=url, timeout=timeout, **options) as opened:
            yield opened


@contextmanager
def generated_client(
    document: bytes, folder: Path, package: str, files: Sequence[str] = ()
) -> Iterator[GeneratedClient]:
    """Generate a package and import it while the block runs; bodies of the media types in `files` are files."""
    (folder / "openapi.json").write_bytes(document)
    overrides = "".join(f"  {name}: application/octet-stream\n" for name in files)
    (folder / "config.yml").write_text(
        f"post_hooks: []\ncontent_type_overrides:\n{overrides}" if files else "post_hooks: []\n"
    )
    program = Path(sys.executable).with_name("openapi-python-client")
    command = [str(program), "generate", "--path", "openapi.json", "--config", "config.yml", "--meta", "none"]
    done = subprocess.run([*command, "--output-path", package], cwd=folder, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    warnings = [line for line in said.splitlines() if line.startswith(("WARNING", "ERROR"))]
    sys.path.insert(0, str(folder))
    try:
        yield GeneratedClient(package, folder, warnings)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
