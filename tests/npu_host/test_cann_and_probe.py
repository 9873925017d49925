"""CANN's environment, the probe of torch_npu, and this machine's ports and variables."""

import socket
import sys
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.npu_host import advisories, cann, local, probe
from mindspeed_mm_train_profiler.skill import wording


def test_the_scripts_own_file_is_sourced_first(tmp_path: Path) -> None:
    """SK-39."""
    own = tmp_path / "cann" / "set_env.sh"
    own.parent.mkdir()
    (own.parent / "version.cfg").write_text("version=[9.9.T1:9.9]\n", encoding="utf-8")
    own.write_text(
        f'export ASCEND_TOOLKIT_HOME={own.parent}\nexport PATH="{tmp_path}:$PATH"\necho noise\nread line\n',
        encoding="utf-8",
    )
    found = cann.find([own], {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    assert found.set_env == (str(own),)
    assert found.environment["PATH"].startswith(str(tmp_path))
    assert found.version and found.version.startswith("9.9")
    assert found.error is None


def test_a_file_that_fails_leaves_the_environment_alone(tmp_path: Path) -> None:
    own = tmp_path / "set_env.sh"
    own.write_text("exit 3\n", encoding="utf-8")
    found = cann.find([own], {"PATH": "/usr/bin:/bin"})
    assert found.environment["PATH"] == "/usr/bin:/bin"
    assert found.error


def test_names_with_blanks_and_quotes_are_arguments_not_program(tmp_path: Path) -> None:
    odd = tmp_path / "a '$(touch pwned)' b" / "set_env.sh"
    odd.parent.mkdir()
    odd.write_text("export ODD=1\n", encoding="utf-8")
    environment, error = cann.source([odd], {"PATH": "/usr/bin:/bin"})
    assert environment["ODD"] == "1" and error is None
    assert not (tmp_path / "pwned").exists()


def python(folder: Path, body: str) -> str:
    """A stand-in interpreter."""
    path = folder / "python3"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def modules(folder: Path, torch_npu: str) -> dict[str, str]:
    (folder / "torch.py").write_text(
        "__version__ = '2.7.1'\nprint('banner' * 10)\nclass npu:\n    is_available = staticmethod(lambda: True)\n    device_count = staticmethod(lambda: 8)\n",
        encoding="utf-8",
    )
    (folder / "torch_npu.py").write_text(torch_npu, encoding="utf-8")
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder)}


def test_versions_and_device_in_spite_of_banners(tmp_path: Path) -> None:
    """SK-39."""
    found = probe.probe(sys.executable, modules(tmp_path, "__version__ = '2.7.1.post1'\n"))
    assert (found.torch, found.torch_npu, found.npu_available, found.device_count) == ("2.7.1", "2.7.1.post1", True, 8)
    assert found.error is None


def test_a_broken_torch_npu_is_quoted(tmp_path: Path) -> None:
    found = probe.probe(
        sys.executable, modules(tmp_path, "raise ImportError('libhccl.so: cannot open shared object file')\n")
    )
    assert found.torch == "2.7.1" and found.torch_npu is None and found.npu_available is None
    assert found.error and "libhccl.so" in found.error


def test_what_came_before_a_crash_is_kept(tmp_path: Path) -> None:
    found = probe.probe(sys.executable, modules(tmp_path, "import os\nos.kill(os.getpid(), 11)\n"))
    assert found.torch == "2.7.1" and found.torch_npu is None
    assert found.error and "-11" in found.error


def test_what_came_before_a_time_out_is_kept(tmp_path: Path) -> None:
    found = probe.probe(sys.executable, modules(tmp_path, "import time\ntime.sleep(60)\n"), timeout_s=3)
    assert found.timed_out and found.torch_npu is None


def test_no_interpreter(tmp_path: Path) -> None:
    assert probe.probe(str(tmp_path / "none"), {"PATH": "/nowhere"}).error


def test_ports() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        number = server.getsockname()[1]
        assert local.port_free(number) is False
    assert local.port_free(number) is True
    assert local.port_free(10**7) is None


def test_a_port_of_a_job_that_has_just_ended_is_free() -> None:
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as torch's TCPStore does
        server.bind(("127.0.0.1", 0))
        server.listen()
        number = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", number)) as client:
            accepted, _ = server.accept()
            accepted.close()  # the server's side closes first: its end stays in TIME_WAIT
            assert client.recv(1) == b""
    assert local.port_free(number) is True


def test_a_port_that_is_only_tried_is_free() -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("0.0.0.0", 0))
        number = other.getsockname()[1]
        assert local.port_free(number) is True
        other.listen()
        assert local.port_free(number) is False


def test_disk_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert local.disk(tmp_path / "a" / "b").free_bytes


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, []),
        ({"PROFILING_MODE": "false"}, ["PROFILING_MODE"]),
        (
            {"PROFILER_SAMPLECONFIG": "x", "OOTB_OPTIMIZER_PROFILING": "TRUE"},
            ["PROFILER_SAMPLECONFIG", "OOTB_OPTIMIZER_PROFILING"],
        ),
        ({"OOTB_OPTIMIZER_PROFILING": "FALSE"}, []),
    ],
)
def test_variables_that_disable_the_profiler(environment: dict[str, str], found: list[str]) -> None:
    assert local.disabling_variables(environment) == found


def test_advisories_have_words_and_sources() -> None:
    for row in advisories.table():
        assert row["source"]
        for language in wording.LANGUAGES:
            assert wording.text(language, f"{row['code']}.message", torch_npu="1", cann="2", source="s")


@pytest.mark.parametrize(
    ("torch_npu", "cann_version", "codes"),
    [
        ("2.10.0.post4", None, ["advisory_stack_segfault"]),
        ("2.10.0.post4+git1", "8.5.0", ["advisory_stack_segfault"]),
        ("2.10.0.post2", "8.5.0", []),
        ("2.12.0", "9.2.0", ["advisory_warmup_window_lost"]),
        ("2.12.0", None, []),
        (None, None, []),
    ],
)
def test_known_bad_pairs(torch_npu: str | None, cann_version: str | None, codes: list[str]) -> None:
    assert [note.code for note in advisories.notes(torch_npu, cann_version)] == codes
