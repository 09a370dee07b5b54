"""Other releases of the program: the previous one from the history, and a next one made from this one."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from support.command_line import SECRET, without_settings

ROOT = Path(__file__).parents[2]
_VERSIONS = "src/tradecounter/db/migrations/versions"
_NUMBERED = re.compile(r"/[0-9]{4}_[^/]*\.py$")
_MIGRATION = '''"""{name}."""

from tradecounter.db.migrations.sql import run_sql

revision = "{revision}"
down_revision = "{former}"
{works_from}

def upgrade() -> None:
    """Change the schema."""
    run_sql({sql!r})
'''


class NoHistoryError(Exception):
    """The previous release is not in a repository here."""


@dataclass
class Release:
    """The source of a release, and the Python that has what it needs."""

    root: Path
    python: Path = Path(sys.executable)

    @property
    def revision(self) -> str:
        """The newest revision of its schema."""
        return max(path.name[:4] for path in (self.root / _VERSIONS).glob("[0-9]*_*.py"))

    @property
    def environment(self) -> dict[str, str]:
        """What makes Python import this release instead of the installed one."""
        return {"PYTHONPATH": str(self.root / "src")}

    def run(self, *words: str, url: str, status: int = 0) -> str:
        """Run a command of the release on a database; return what it printed."""
        settings = {"TRADECOUNTER_DATABASE_URL": url, "TRADECOUNTER_SECRET_KEY": SECRET}
        done = subprocess.run(
            [self.python, "-m", "tradecounter", *words],
            env={**without_settings(), **settings, **self.environment},
            cwd=self.root,
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done.stdout + done.stderr

    def edit(self, path: str, old: str, new: str) -> None:
        """Change the text of a file below the package."""
        file = self.root / "src" / "tradecounter" / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def add_migration(self, sql: str, *, works_from: str | None = None) -> str:
        """Add a revision to the release; `works_from` is what the migration says of older programs."""
        former = self.revision
        revision = f"{int(former) + 1:04}"
        line = "" if works_from is None else f'works_from = "{works_from}"\n'
        text = _MIGRATION.format(name=revision, revision=revision, former=former, works_from=line, sql=sql)
        (self.root / _VERSIONS / f"{revision}_made_by_a_test.py").write_text(text)
        return revision


def next_release(folder: Path) -> Release:
    """A copy of this release, to which a test adds migrations."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return Release(folder)


def previous_release(folder: Path) -> Release:
    """The newest tag, or the last state of the schema that leads to this one, with the packages of its own lock.

    Its tests' packages are there, too, since its tests' code fills its database. Raises NoHistoryError.
    """
    commit = previous_commit()
    folder.mkdir()
    subprocess.run(["tar", "--extract"], cwd=folder, input=_git("archive", "--format=tar", commit), check=True)
    if (folder / "uv.lock").read_bytes() == (ROOT / "uv.lock").read_bytes():
        return Release(folder)
    uv = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    command = [uv, "sync", "--frozen", "--quiet", "--extra", "embedded", "--group", "dev"]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    return Release(folder, folder / ".venv" / "bin" / "python")


def previous_commit() -> str:
    """The commit of the previous release. Raises NoHistoryError."""
    tags = _git("tag", "--merged", "HEAD", "--sort=-v:refname", "v*").decode().split()
    here = _git("rev-parse", "HEAD").strip()
    for tag in tags:
        if _git("rev-parse", f"{tag}^{{commit}}").strip() != here:
            return tag
    migrations = _migrations("HEAD")
    for changed in _git("log", "--format=%H", "--", _VERSIONS).decode().split():
        before = _migrations(f"{changed}^")
        if before == migrations[: len(before)] != migrations:  # else a database of then may lack one of the others
            return _git("rev-parse", "--verify", "--quiet", f"{changed}^").decode().strip()
    raise NoHistoryError("the history has no schema that leads to this one")


def _migrations(commit: str) -> list[str]:
    """The names of a commit's migrations, in their order. Raises NoHistoryError."""
    names = _git("ls-tree", "--name-only", commit, f"{_VERSIONS}/").decode().split()
    return sorted(name.rpartition("/")[2] for name in names if _NUMBERED.search(name))


def _git(*words: str) -> bytes:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoHistoryError(str(error)) from error


if __name__ == "__main__":
    try:
        previous_commit()
    except NoHistoryError as reason:
        sys.exit(str(reason))
