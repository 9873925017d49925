"""`make audit` where the index has few records: an advisory fails it, and what could not be asked is never called clean."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "advisories.py"
ADVISORY = {"id": "PYSEC-0000-1", "fixed_in": ["99.1"], "withdrawn": None}


class Index(ThreadingHTTPServer):
    """Answers every newest-version record; `overrides` name what is different: (version, advisories), or no record."""

    overrides: dict[str, tuple[str, list[dict[str, object]]] | None]
    exact: bool


class Records(BaseHTTPRequestHandler):
    server: Index

    def do_GET(self) -> None:
        name, *rest = self.path.strip("/").split("/")
        row = self.server.overrides.get(name, (version(name), []))
        if row is None or (len(rest) == 2 and not self.server.exact):
            self.send_error(404)
            return
        body = json.dumps({"info": {"version": row[0]}, "vulnerabilities": row[1]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def index() -> Iterator[Index]:
    server = Index(("127.0.0.1", 0), Records)
    server.overrides, server.exact = {}, False
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(timeout=10)


def audit(index: Index) -> subprocess.CompletedProcess[str]:
    if not SCRIPT.exists():
        pytest.skip("not a source checkout")
    url = f"http://127.0.0.1:{index.server_address[1]}/"
    return subprocess.run([sys.executable, str(SCRIPT), url], capture_output=True, text=True, timeout=110, check=False)


def test_all_asked_and_nothing_known_is_clean(index: Index) -> None:
    done = audit(index)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 advisories, 0 not audited" in done.stdout


@pytest.mark.parametrize("exact", [True, False])
def test_an_advisory_fails_the_audit(index: Index, exact: bool) -> None:
    index.exact = exact
    index.overrides = {"pydantic": (version("pydantic"), [ADVISORY])}
    done = audit(index)
    assert done.returncode == 1
    assert f"pydantic {version('pydantic')}: PYSEC-0000-1 (fixed in: 99.1)" in done.stdout


def test_a_withdrawn_advisory_is_none(index: Index) -> None:
    index.overrides = {"pydantic": (version("pydantic"), [{**ADVISORY, "withdrawn": "2026-01-01T00:00:00Z"}])}
    assert audit(index).returncode == 0


@pytest.mark.parametrize("row", [None, ("0.0.1", []), ("0.0.1", [ADVISORY])], ids=["no record", "other", "other, bad"])
def test_a_version_without_a_record_of_its_own_is_not_audited(
    index: Index, row: tuple[str, list[dict[str, object]]] | None
) -> None:
    index.overrides = {"pydantic": row}
    done = audit(index)
    assert done.returncode == 2
    assert f"pydantic {version('pydantic')}: the index has no record" in done.stdout
