"""`make audit` tells what is known from what could not be asked, against a real advisory service on this machine."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.advisories import KNOWN, NOT_ASKED, NOTHING_KNOWN, main
from support.mail import free_port

HASH = "--hash=sha256:" + "0" * 64
ADVISORY = {
    "id": "PYSEC-2026-1",
    "summary": "A made-up one.",
    "published": "2026-01-01T00:00:00Z",
    "affected": [
        {
            "package": {"name": "jinja2", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "3.1.6"}]}],
        }
    ],
}


@contextmanager
def service(status: int, said: bytes | None = None) -> Iterator[str]:
    """An advisory service in OSV's format that knows one thing about Jinja2, or fails, or says something else."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = [ADVISORY] if question["package"]["name"] == "jinja2" else []
            body = json.dumps({"vulns": known} if known else {}).encode() if said is None else said
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_parts: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1/query"
        finally:
            server.shutdown()


def audited(folder: Path, requirements: list[str], status: int = 200, said: bytes | None = None) -> int:
    with service(status, said) as url:
        return audited_at(url, folder, requirements)


def audited_at(url: str, folder: Path, requirements: list[str]) -> int:
    file = folder / "requirements.txt"
    file.write_text("".join(f"{requirement} {HASH}\n" for requirement in requirements))
    return main(file, ["--vulnerability-service=osv", f"--osv-url={url}"])


def test_nothing_known_about_any_package_succeeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited(tmp_path, ["markupsafe==3.0.4", "segno==1.6.6"]) == NOTHING_KNOWN
    assert "2 packages were asked about; no vulnerabilities" in capsys.readouterr().out


def test_a_known_vulnerability_fails_and_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited(tmp_path, ["jinja2==3.1.5", "segno==1.6.6"]) == KNOWN
    assert "jinja2 3.1.5: PYSEC-2026-1, mended in 3.1.6" in capsys.readouterr().out


def test_a_service_that_fails_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited(tmp_path, ["segno==1.6.6"], status=503) == NOT_ASKED
    said = capsys.readouterr().err
    assert "COULD NOT ASK" in said
    assert "503" in said


@pytest.mark.parametrize("said", [b"", b"<html>sign in to this network</html>"])
def test_what_is_no_response_of_an_advisory_service_is_no_result(
    tmp_path: Path, said: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audited(tmp_path, ["segno==1.6.6"], said=said) == NOT_ASKED
    assert "COULD NOT ASK" in capsys.readouterr().err


def test_a_service_that_cannot_be_reached_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1/query"
    assert audited_at(url, tmp_path, ["segno==1.6.6"]) == NOT_ASKED
    assert "COULD NOT ASK" in capsys.readouterr().err


def test_a_list_without_packages_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited(tmp_path, []) == NOT_ASKED
    assert "names no package" in capsys.readouterr().err
