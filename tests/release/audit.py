"""`make audit` tells what is known from what could not be asked, against a real advisory service on this machine."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support.advisories import KNOWN, NOT_ASKED, NOTHING_KNOWN, main

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
def service(status: int) -> Iterator[str]:
    """An advisory service in OSV's format that knows one thing about Jinja2, or fails."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = [ADVISORY] if question["package"]["name"] == "jinja2" else []
            body = json.dumps({"vulns": known} if known else {}).encode()
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


def audited(folder: Path, requirements: list[str], status: int = 200) -> int:
    file = folder / "requirements.txt"
    file.write_text("".join(f"{requirement} {HASH}\n" for requirement in requirements))
    with service(status) as url:
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
