"""Clients that openapi-generator makes of both interface documents in six languages, compiled with what Debian has."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from support import node_packages
from support.interface import backoffice_document, interface_document
from support.node_packages import installed

DOCUMENTS = ("customers", "back-office")
PROGRAMS = Path(__file__).parents[1] / "generators" / "programs"

_JAVA_LIBRARIES = ("/usr/share/java/jakarta-annotation-api.jar", "/usr/share/java/httpmime.jar")
_NEWTONSOFT = "node_modules/jillejr.newtonsoft.json-for-unity/Plugins/Newtonsoft.Json Editor/Newtonsoft.Json.dll"
_ASSEMBLIES = ("System.Net.Http", "System.Web", "System.Runtime.Serialization", "System.ComponentModel.DataAnnotations")
_NPM = "npm packages"  # those of `tests/npm/`
_GENERATOR = "the dependency group generators"


@dataclass(frozen=True)
class Language:
    """How a client is generated, what its compiler needs, and the commands that compile it and run an order.

    `needs` maps programs and files to the Debian packages that have them. The commands run in the client's folder.
    """

    options: Mapping[str, str]
    program: str
    build: str
    run: str
    needs: Mapping[str, str] = field(default_factory=dict)
    npm: bool = False


LANGUAGES = {
    "python": Language(
        {"packageName": "shop_client"},
        "order.py",
        'python -W error -m compileall -q shop_client && python -c "import shop_client.api, shop_client.models"',
        'PYTHONPATH=. python "$PROGRAM"',
    ),
    "php": Language(
        {},
        "order.php",
        'php "$PROGRAMS/load.php"',
        'php -d auto_prepend_file="$PROGRAMS/load.php" "$PROGRAM"',
        {"php": "php-cli", "/usr/share/php/GuzzleHttp/autoload.php": "php-guzzlehttp-guzzle"},
    ),
    "java": Language(
        {"library": "native", "useJakartaEe": "true", "openApiNullable": "false"},
        "Order.java",
        "javac -proc:none -nowarn -d classes -cp \"$JARS\" $(find src/main -name '*.java') $PROGRAM",
        'java -cp "classes:$JARS" Order',
        {
            "javac": "default-jdk-headless",
            _JAVA_LIBRARIES[0]: "libjakarta-annotation-api-java",
            _JAVA_LIBRARIES[1]: "libhttpmime-java",
        },
    ),
    "go": Language(
        {"packageName": "client", "withGoMod": "false"},
        "order.go",
        "printf 'module client\\n\\ngo 1.19\\n' > go.mod && go vet ./... && "
        'if [ -n "$PROGRAM" ]; then install -D "$PROGRAM" order/main.go && go build -o program ./order; fi',
        "./program",
        {"go": "golang-go"},
    ),
    "typescript-fetch": Language(
        {},
        "order.ts",
        'PATH="$NPM/.bin:$PATH" && if [ -n "$PROGRAM" ]; then cp "$PROGRAM" main.ts; fi && '
        "tsc --noEmit --strict --target es2022 --module esnext --moduleResolution bundler --lib es2023,dom,dom.iterable"
        " *.ts && "
        'if [ -n "$PROGRAM" ]; then esbuild main.ts --bundle --platform=node --format=esm --outfile=main.mjs; fi',
        "node main.mjs",
        npm=True,
    ),
    "csharp": Language(
        {"library": "httpclient", "targetFramework": "net48", "nullableReferenceTypes": "false"},
        "Order.cs",
        'mcs -langversion:latest -nowarn:0472 -r:"$NEWTONSOFT" '
        + " ".join(f"-r:{name}.dll" for name in _ASSEMBLIES)
        + ' $(if [ -n "$PROGRAM" ]; then echo -out:program.exe; else echo -target:library -out:client.dll; fi) '
        '"$PROGRAMS/Polly.cs" $(find src/Org.OpenAPITools -name "*.cs") $PROGRAM',
        'MONO_PATH="$(dirname "$NEWTONSOFT")" mono program.exe',
        {
            "mcs": "mono-mcs",
            "mono": "mono-runtime",
            **{f"/usr/lib/mono/4.5/{name}.dll": f"libmono-{_dashed}4.0-cil" for name, _dashed in (
                ("System.Net.Http", "system-net-http"),
                ("System.Web", "system-web"),
                ("System.ComponentModel.DataAnnotations", "system-componentmodel-dataannotations"),
            )},
        },
        npm=True,
    ),
}  # fmt: skip


def available() -> list[str]:
    """The languages whose clients can be generated and compiled here, npm's packages installed if need be."""
    if without():
        return []
    installed()
    return [name for name, language in LANGUAGES.items() if not _missing(language)]


def left_out() -> list[str]:
    """What is left out, and what it needs."""
    if missing := without():
        return [f"clients of openapi-generator; without {', '.join(missing)}"]
    lacking = {name: _missing(language) for name, language in LANGUAGES.items()}
    return [
        f"clients of openapi-generator in {name}; without {', '.join(found)}"
        for name, found in lacking.items()
        if found
    ]


def without() -> list[str]:
    """What the generator itself lacks."""
    return [*([] if jar() else [_GENERATOR]), *([] if shutil.which("java") else ["default-jre-headless"])]


def _missing(language: Language) -> list[str]:
    return [*_absent(language.needs), *([_NPM] if language.npm and node_packages.left_out() else [])]


def _absent(needs: Mapping[str, str]) -> Iterable[str]:
    for needed, package in needs.items():
        if not (Path(needed).exists() if needed.startswith("/") else shutil.which(needed)):
            yield package


def jar() -> Path | None:
    """The generator, if its dependency group is installed."""
    found = importlib.util.find_spec("openapi_generator_cli")
    return None if found is None or found.origin is None else Path(found.origin).with_name("openapi-generator.jar")


@dataclass
class Workshop:
    """A folder with the clients: one folder for each document and language; `said` is what the generator printed."""

    folder: Path
    languages: list[str]
    said: str = ""

    def generate(self) -> None:
        """Generate all clients in one process, which validates the documents too."""
        found = jar()
        assert found is not None
        for name, document in zip(DOCUMENTS, (interface_document(), backoffice_document()), strict=True):
            (self.folder / f"{name}.json").write_text(json.dumps(document))
        wanted = [self._configuration(document, name) for document in DOCUMENTS for name in self.languages]
        command = ["java", "-Dlog.level=warn", "-jar", str(found), "batch", "--fail-fast", *wanted]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=540)
        self.said = done.stdout + done.stderr
        assert done.returncode == 0, self.said

    def build(self, document: str, name: str) -> str:
        """Compile a client, the customers' with the program that orders; return what the compiler printed."""
        return self._run(LANGUAGES[name].build, document, name)

    def run(self, name: str, **environment: str) -> dict[str, str]:
        """Run the program that orders, and return what it printed by name."""
        printed = self._run(LANGUAGES[name].run, DOCUMENTS[0], name, **environment)
        return dict(line.split(" ", 1) for line in printed.splitlines())

    def _configuration(self, document: str, name: str) -> str:
        without = ("apiTests", "modelTests", "apiDocs", "modelDocs")
        configuration = {
            "generatorName": name,
            "inputSpec": str(self.folder / f"{document}.json"),
            "outputDir": str(self.folder / document / name),
            "additionalProperties": LANGUAGES[name].options,
            "globalProperties": dict.fromkeys(without, "false"),
        }
        path = self.folder / f"{document}-{name}.json"
        path.write_text(json.dumps(configuration))
        return path.name

    def _run(self, command: str, document: str, name: str, **given: str) -> str:
        packages = installed() or Path()
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PROGRAMS": str(PROGRAMS),
            "PROGRAM": str(PROGRAMS / LANGUAGES[name].program) if document == DOCUMENTS[0] else "",
            "JARS": os.pathsep.join([str(jar()), *_JAVA_LIBRARIES]),
            "NPM": str(packages / "node_modules"),
            "NEWTONSOFT": str(packages / _NEWTONSOFT),
            "GOPROXY": "off",
            **given,
        }
        done = subprocess.run(
            ["bash", "-euc", command],
            cwd=self.folder / document / name,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
