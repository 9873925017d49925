"""npu-smi, the launchers' options, the environment probes, the switches: what people and probes meet first."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import mindspeed_mm_train_profiler as package
from mindspeed_mm_train_profiler.simulator import launch_call, switches
from mindspeed_mm_train_profiler.simulator.host import SimulatedHost
from mindspeed_mm_train_profiler.simulator.npu_smi import info

BIN = Path(package.__file__).parent / "simulator/bin"


def run(host: SimulatedHost, *command: str, timeout: float = 20, **given: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        env=host.environment(**given),
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )


def test_every_switch_is_documented_and_read() -> None:
    assert set(switches.TABLE) == {name.upper() for name in switches.Switches.__dataclass_fields__}
    assert all(len(what) > 10 for _, what in switches.TABLE.values())
    given = switches.read({"SIMULATED_NPU_MS": "2.5", "SIMULATED_NPU_CRASH_AT": "7", "SIMULATED_NPU_PARSE_FAILS": "0"})
    assert (given.ms, given.crash_at, given.kill_at, given.parse_fails) == (2.5, 7, None, False)


def test_a_switch_that_is_no_number_is_named() -> None:
    with pytest.raises(SystemExit, match="SIMULATED_NPU_CRASH_AT='soon'"):
        switches.read({"SIMULATED_NPU_CRASH_AT": "soon"})


def test_an_unknown_switch_is_refused(host: SimulatedHost) -> None:
    with pytest.raises(ValueError, match="no such switch"):
        host.environment(crash=3)


def test_npu_smi_says_simulated_and_keeps_the_layout(host: SimulatedHost) -> None:
    done = run(host, "npu-smi", "info", devices=3)
    first, *table = done.stdout.splitlines()
    assert "simulated" in first
    assert {len(line) for line in table} == {98}
    assert done.stdout.count("910B3") == 3
    assert done.stdout.count("No running processes found in NPU") == 3


def test_npu_smi_knows_who_runs() -> None:
    table = info(2, {1: [4711]})
    assert "| 1       0                 | 4711          | python" in table
    assert "No running processes found in NPU 0" in table and "found in NPU 1" not in table


@pytest.mark.parametrize(
    "fault, code, said",
    [
        ("8005", 0, "dcmi module initialize failed. ret is -8005"),
        ("empty", 0, ""),
        ("exit:3", 3, ""),
        ("busy", 0, "4194303"),
    ],
)
def test_npu_smi_can_fail(fault: str, code: int, said: str, host: SimulatedHost) -> None:
    done = run(host, "npu-smi", "info", smi=fault)
    assert done.returncode == code and said in done.stdout
    assert said or not done.stdout


def test_npu_smi_can_hang(host: SimulatedHost) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        run(host, "npu-smi", "info", smi="hang", timeout=1)


def test_probes_get_answers_from_any_python(host: SimulatedHost) -> None:
    probe = "import torch, torch_npu; print(torch_npu.__version__, torch.npu.is_available(), torch.npu.device_count())"
    assert run(host, sys.executable, "-c", probe).stdout.split() == ["2.7.1.post4+simulated", "True", "8"]
    assert run(host, sys.executable, "-c", probe, devices=0).stdout.split() == ["2.7.1.post4+simulated", "False", "0"]
    system = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if system:
        assert run(host, system, "-c", probe).stdout.split() == ["2.7.1.post4+simulated", "True", "8"]
    metadata = "import importlib.metadata as m; print(m.version('torch_npu'))"
    assert run(host, sys.executable, "-c", metadata).stdout.strip() == "2.7.1.post4+simulated"


def test_cann_can_be_sourced(host: SimulatedHost) -> None:
    done = run(host, "bash", "-c", f"source {host.set_env}; command -v msprof; echo $ASCEND_TOOLKIT_HOME")
    msprof, home = done.stdout.split()
    assert msprof == f"{home}/bin/msprof"
    assert "9.0.0" in (Path(home) / "version.cfg").read_text()


@pytest.mark.parametrize("name", ["npu-smi", "torchrun", "msrun"])
def test_the_shipped_commands_run_with_the_standard_library_alone(name: str, tmp_path: Path) -> None:
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    entry = tmp_path / "entry.py"
    entry.write_text("import os; print('rank', os.environ['RANK'])\n")
    words = ["info"] if name == "npu-smi" else ["--join=True", str(entry)] if name == "msrun" else [str(entry)]
    environment = {"PATH": os.environ["PATH"], "SIMULATED_NPU_PYTHON": python, "SIMULATED_NPU_MAX_RANKS": "1"}
    assert os.access(BIN / name, os.X_OK)
    done = subprocess.run(
        [BIN / name, *words], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 0, done.stderr
    assert "simulated NPU host" in done.stdout
    assert name == "npu-smi" or "rank 0" in done.stdout


def test_launcher_options() -> None:
    launch = launch_call.parse(
        "torchrun", ["--nproc_per_node", "4", "--nnodes=2", "--node-rank", "1", "--standalone", "a.py", "--nproc", "9"]
    )
    assert (launch.world_size, launch.node_rank, launch.entry, launch.args) == (8, 1, "a.py", ["--nproc", "9"])
    assert launch_call.rank_environment(launch, 2)["RANK"] == "6"
    workers = launch_call.parse("msrun", ["--worker_num", "16", "--local_worker_num", "8", "--join=True", "b.py"])
    assert (workers.nproc, workers.nnodes, workers.options["join"]) == (8, 2, "True")


def test_a_launch_without_entry_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        launch_call.parse("torchrun", ["--nproc_per_node", "2"])
    assert stopped.value.code == 2
    assert "required: training_script" in capsys.readouterr().err


def test_torch_distributed_run_is_torchrun(host: SimulatedHost, tmp_path: Path) -> None:
    entry = tmp_path / "entry.py"
    entry.write_text("import os; os.write(1, f'rank {os.environ[\"RANK\"]}\\n'.encode())\n")  # one write, one line
    done = run(host, sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=2", str(entry))
    assert done.returncode == 0, done.stderr
    assert {"rank 0", "rank 1"} <= set(done.stdout.splitlines())


def test_a_missing_entry_fails_as_python_does(host: SimulatedHost, tmp_path: Path) -> None:
    done = run(host, "torchrun", str(tmp_path / "nothing.py"))
    assert done.returncode == 1
    assert "can't open file" in done.stderr and "exitcode  : 2" in done.stderr


def test_ending_the_launcher_ends_its_ranks(host: SimulatedHost, tmp_path: Path) -> None:
    entry = tmp_path / "entry.py"
    entry.write_text(
        "import os, time\nopen(f'pid{os.environ[\"RANK\"]}', 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    )
    process = subprocess.Popen(
        ["torchrun", "--nproc_per_node=2", str(entry)],
        env=host.environment(),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    wait_for(
        lambda: all((tmp_path / f"pid{rank}").exists() and (tmp_path / f"pid{rank}").read_text() for rank in (0, 1))
    )
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 1 and "got signal: 15" in errors
    for rank in (0, 1):
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / f"pid{rank}").read_text()), 0)


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> None:
    import time

    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
