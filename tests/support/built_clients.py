"""The clients as their users get them: built packages in empty environments."""

import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from support.node_packages import installed

_ROOT = Path(__file__).parents[2]
_CLIENTS = _ROOT / "clients"
_PROGRAMS = _ROOT / "tests" / "clients" / "programs"
_EXTENSIONS = {"curl": "curl", "sqlite3": "pdo_sqlite"}
_IMPORTING = ("from ", "import ", "<?php", "require ", "use ")
_STRICT = ("--strict", "--noUncheckedIndexedAccess", "--target", "ES2022", "--module", "NodeNext")


class BuiltClient(Protocol):
    """An installed client of a language; `kind` is that of its code in the guide."""

    kind: ClassVar[str]

    def command(self, name: str, code: str) -> tuple[str | Path, ...]:
        """The command that runs a program with this code."""

    def program(self, name: str, *arguments: str | Path, **environment: str) -> str:
        """The output of a program in `tests/clients/programs/`."""

    def readme(self, url: str, key: str) -> str:
        """The output of the first lines of the client's README."""

    def following(self, file: Path) -> tuple[str | Path, ...]:
        """The command that keeps a copy of the catalogue in a file, until it is killed."""

    def synchronise(self, file: Path, url: str, key: str) -> None:
        """Bring the copy up to date."""

    def copied(self, file: Path) -> dict[str, Any]:
        """The products of the copy by their SKUs; none where there is no copy yet."""


@dataclass
class PythonClient:
    """The wheel with what it needs, in an environment of its own."""

    kind: ClassVar[str] = "python file={}.py"
    programs: Path

    def command(self, name: str, code: str) -> tuple[str | Path, ...]:
        file = self.programs.parent / f"{name}.py"
        file.write_text(code)
        return (self.programs / "python", file)

    def program(self, name: str, *arguments: str | Path, **environment: str) -> str:
        return ran((self.programs / "python", _PROGRAMS / f"{name}.py", *arguments), environment)

    def readme(self, url: str, key: str) -> str:
        """Its first lines, type-checked as strictly as the client itself."""
        python, code = self.programs / "python", first_lines("python", "python", url, key)
        ran((sys.executable, "-m", "mypy", "--strict", "--config-file=", "--python-executable", python, "-c", code))
        return ran((python, "-c", code))

    def trade(self, url: str, key: str, *arguments: str | Path, typed: str = "") -> str:
        environment = {"TRADECOUNTER_URL": url, "TRADECOUNTER_KEY": key}
        return ran((self.programs / "trade", *arguments), environment, given=typed)

    def following(self, file: Path) -> tuple[str | Path, ...]:
        return (self.programs / "trade", "sync", file, "--follow")

    def synchronise(self, file: Path, url: str, key: str) -> None:
        self.trade(url, key, "sync", file)

    def copied(self, file: Path) -> dict[str, Any]:
        return copied(file)


@dataclass
class TypeScriptClient:
    """npm's package in a folder without any other."""

    kind: ClassVar[str] = "ts file={}.ts"
    folder: Path

    def command(self, name: str, code: str, *options: str | Path) -> tuple[str | Path, ...]:
        """Type-checked as strictly as the client itself, with the types of Node.js unless there are other options."""
        source = self.folder / f"{name}.mts"
        source.write_text(code)
        types = node_program("tsc").parents[1] / "@types"
        of_node = ("--types", "node", "--typeRoots", types, "--skipLibCheck")
        ran((node_program("tsc"), *_STRICT, *(options or of_node), source))
        return ("node", source.with_suffix(".mjs"))

    def program(self, name: str, *arguments: str | Path, **environment: str) -> str:
        return ran(("node", self.folder / f"{name}.mjs", *arguments), environment)

    def readme(self, url: str, key: str) -> str:
        code = first_lines("typescript", "ts", url, key)
        return ran(self.command("readme", code, "--lib", "ES2022,DOM,DOM.Iterable"))

    def following(self, file: Path) -> tuple[str | Path, ...]:
        return ("node", self.folder / "sync.mjs", file, "follow")

    def synchronise(self, file: Path, url: str, key: str) -> None:
        self.program("sync", file, BASE=url, KEY=key)

    def copied(self, file: Path) -> dict[str, Any]:
        return dict(json.loads(file.read_text())["products"]) if file.exists() else {}


@dataclass
class PhpClient:
    """composer's archive in a folder without any other package; each notice of PHP is an error."""

    kind: ClassVar[str] = "php file={}.php"
    folder: Path

    def command(self, name: str, code: str) -> tuple[str | Path, ...]:
        (self.folder / f"{name}.php").write_text(code)
        return self._php(name)

    def program(self, name: str, *arguments: str | Path, given: str = "", **environment: str) -> str:
        return ran((*self._php(name), *arguments), environment, given=given)

    def readme(self, url: str, key: str) -> str:
        return ran(self.command("readme", first_lines("php", "php", url, key)))

    def following(self, file: Path) -> tuple[str | Path, ...]:
        """The README's lines that keep a copy."""
        return self._php(self._copying("follow", file, "wait: 20"))

    def synchronise(self, file: Path, url: str, key: str) -> None:
        self.program(self._copying("synchronise", file, "wait: null"), BASE=url, KEY=key)

    def copied(self, file: Path) -> dict[str, Any]:
        return copied(file)

    def _php(self, name: str) -> tuple[str | Path, ...]:
        return ("php", "-d", f"auto_prepend_file={_PROGRAMS / 'prepended.php'}", self.folder / f"{name}.php")

    def _copying(self, name: str, file: Path, wait: str) -> str:
        code = code_of("php", "php")[1].replace("catalogue.sqlite", str(file)).replace("wait: 20", wait)
        client = "new Tradecounter\\Client\\Tradecounter(getenv('BASE'), getenv('KEY'))"
        (self.folder / f"{name}.php").write_text(f"<?php\nrequire 'vendor/autoload.php';\n$shop = {client};\n{code}")
        return name


def build_python(folder: Path) -> PythonClient:
    uv = shutil.which("uv") or _ROOT / ".uv" / "bin" / "uv"
    ran((uv, "build", "--quiet", "--out-dir", folder, _CLIENTS / "python"))
    [wheel] = folder.glob("*.whl")
    environment = folder / "environment"
    ran((uv, "venv", "--quiet", environment))
    programs = environment / "bin"
    ran((uv, "pip", "install", "--quiet", "--python", programs / "python", f"{wheel}[trade]"))
    return PythonClient(programs)


def build_typescript(folder: Path) -> TypeScriptClient:
    source, user = folder / "source", folder / "user"
    shutil.copytree(_CLIENTS / "typescript", source, ignore=shutil.ignore_patterns("dist", "node_modules"))
    ran((node_program("biome"), "check", "--error-on-warnings", source), cwd=source)
    ran((node_program("tsc"), "--project", source))
    ran(("npm", "pack", "--silent", "--pack-destination", folder), cwd=source)
    [package] = folder.glob("*.tgz")
    user.mkdir()
    (user / "package.json").write_text('{"private": true}')
    ran(("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", package), cwd=user)
    for program in _PROGRAMS.glob("*.mjs"):
        shutil.copy(program, user)
    return TypeScriptClient(user)


def build_php(folder: Path) -> PhpClient:
    source, user = _CLIENTS / "php", folder / "user"
    composer = {"COMPOSER_ALLOW_SUPERUSER": "1", "COMPOSER_NO_INTERACTION": "1", "COMPOSER_HOME": str(folder / "home")}
    ran(("composer", "validate", "--strict"), composer, source)
    ran(("phpcs", "--standard=phpcs.xml"), cwd=source)
    if shutil.which("phpstan"):
        ran(("phpstan", "analyse", "--no-progress"), cwd=source)
    ran(("composer", "archive", "--format=tar", "--dir", folder, "--file=package"), composer, source)
    shutil.unpack_archive(folder / "package.tar", user / "tradecounter-client", filter="data")
    (user / "composer.json").write_text("{}")
    ran(("composer", "config", "repositories.packagist.org", "false"), composer, user)
    for line in code_of("php", "sh")[0].splitlines()[1:]:
        ran(tuple(shlex.split(line)), composer, user)
    ran(("composer", "dump-autoload", "--optimize", "--strict-psr"), composer, user)
    for program in _PROGRAMS.glob("*.php"):
        shutil.copy(program, user)
    return PhpClient(user)


def php_left_out() -> list[str]:
    """Debian's packages that the client for PHP is not tried without."""
    programs = {"php": "php-cli", "composer": "composer", "phpcs": "php-codesniffer"}
    if missing := [package for program, package in programs.items() if shutil.which(program) is None]:
        return missing
    extensions = ran(("php", "-m")).split()
    return [f"php-{package}" for package, name in _EXTENSIONS.items() if name not in extensions]


def node_program(name: str) -> Path:
    """A program of the packages of `tests/npm/`."""
    packages = installed()
    assert packages is not None
    return packages / "node_modules" / ".bin" / name


def copied(file: Path) -> dict[str, Any]:
    """The products of an SQLite file, if it has any."""
    with sqlite3.connect(file) as copy:
        if copy.execute("select 1 from sqlite_master where name = 'product'").fetchone() is None:
            return {}
        return {sku: json.loads(data) for sku, data in copy.execute("select sku, data from product")}


def code_of(client: str, language: str) -> list[str]:
    """The code in a client's README."""
    readme = (_CLIENTS / client / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)


def first_lines(client: str, language: str, url: str, key: str) -> str:
    """The first code of a client's README, with the address and the key that readers put in."""
    code = code_of(client, language)[0]
    assert len([line for line in code.splitlines() if line and not line.startswith(_IMPORTING)]) <= 10
    return code.replace("https://api.example", url).replace("YOUR_KEY", key)


def ran(
    command: tuple[str | Path, ...], environment: dict[str, str] | None = None, cwd: Path | None = None, given: str = ""
) -> str:
    """The output of a command that must succeed, with its input."""
    known = {**os.environ, **(environment or {})}
    done = subprocess.run(command, cwd=cwd, env=known, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
