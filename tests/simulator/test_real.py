"""The simulated host beside the real thing: profiles of real devices, and MindSpeed-MM's and torch_npu's own code.

Wants PROFILER_SHARED (real profiles, the stand-in launcher), MINDSPEED_MM_ROOT, TORCH_NPU_ROOT, and REAL_STACK_PYTHON, an
interpreter with torch (CPU), PyYAML and pydantic. Other generations of torch_npu are compared where their checkouts stand
beside TORCH_NPU_ROOT, named by branch (v2.7.1-7.2.0).
"""

import ast
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler.simulator import run as starter
from mindspeed_mm_train_profiler.simulator.engines import EngineError, checkout_of, find_engine, read_job
from mindspeed_mm_train_profiler.simulator.generations import TABLE, generation
from mindspeed_mm_train_profiler.simulator.host import SimulatedHost
from mindspeed_mm_train_profiler.simulator.launch_call import parse
from mindspeed_mm_train_profiler.simulator.sample import make_checkout
from mindspeed_mm_train_profiler.simulator.watch_config import template

Train = Callable[..., Any]
RUN = Path(starter.__file__)
REAL_RANK = Path(__file__).with_name("real_rank.py")


def header(path: Path) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def keys(value: Any) -> Any:
    """The shape of a JSON value."""
    if isinstance(value, dict):
        return {key: keys(inner) for key, inner in value.items()}
    return type(value).__name__


@pytest.mark.parametrize(
    "case, torch_npu, profile",
    [
        ("text-level1/rank0_ascend_pt", "6.0.0", {"with_stack": True, "with_memory": True, "record_shapes": True}),
        ("st-level2/rank_0_ascend_pt", "7.2.0", {"level": "level2", "with_memory": True, "record_shapes": True}),
    ],
)
def test_tables_have_the_columns_of_real_ones(
    case: str, torch_npu: str, profile: dict[str, Any], profiler_shared: Path, train: Train
) -> None:
    real = profiler_shared / "cases/profiles" / case / "ASCEND_PROFILER_OUTPUT"
    ours = train(nproc=2, torch_npu=torch_npu, profile=profile).session() / "ASCEND_PROFILER_OUTPUT"
    compared = set()
    for table in ours.glob("*.csv"):
        if (real / table.name).exists():
            assert header(table) == header(real / table.name), table.name
            compared.add(table.name)
    assert compared >= {"step_trace_time.csv", "kernel_details.csv", "op_statistic.csv", "memory_record.csv"}
    missing = {path.name for path in real.glob("*.csv")} - {path.name for path in ours.glob("*.csv")}
    assert missing <= {"l2_cache.csv", "operator_details.csv"}  # l2_cache is nothing MindSpeed-MM can ask for


@pytest.mark.parametrize(
    "case, torch_npu", [("text-level1/rank0_ascend_pt", "6.0.0"), ("st-level2/rank_0_ascend_pt", "7.2.0")]
)
def test_json_files_have_the_shape_of_real_ones(case: str, torch_npu: str, profiler_shared: Path, train: Train) -> None:
    real = profiler_shared / "cases/profiles" / case
    ours = train(nproc=2, torch_npu=torch_npu, profile={"level": "level2"}).session()
    theirs = json.loads((real / "profiler_info_0.json").read_text())
    mine = json.loads((ours / "profiler_info_0.json").read_text())
    theirs["rank_id"] = str(theirs["rank_id"])  # an int where torchrun did not set RANK
    assert keys(mine) == keys(theirs)
    for name in ("communication.json", "communication_matrix.json"):
        other = json.loads((real / "ASCEND_PROFILER_OUTPUT" / name).read_text())
        own = json.loads((ours / "ASCEND_PROFILER_OUTPUT" / name).read_text())
        (theirs,), mine = other.values(), own["step2"]
        assert set(mine) == set(theirs)
        theirs, mine = theirs["collective"], mine["collective"]
        assert ("Total Op Info" in mine) is ("Total Op Info" in theirs)
        one, same = (next(v for k, v in group.items() if "reduce" in k.lower()) for group in (theirs, mine))
        if name == "communication.json":
            assert set(one["Communication Time Info"]) == set(same["Communication Time Info"])
            bandwidth = one["Communication Bandwidth Info"]
            assert {k: set(v) for k, v in bandwidth.items()} == {
                k: set(v) for k, v in same["Communication Bandwidth Info"].items()
            }
        else:
            assert set(next(iter(one.values()))) == set(next(iter(same.values())))
            assert all(re.fullmatch(r"\w+-(top1|middle|bottom\d|total)@.+", key) for key in [*theirs, *mine])


def test_the_databases_have_the_columns_of_real_ones(profiler_shared: Path, train: Train) -> None:
    real = profiler_shared / "cases/profiles/db-level1/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT"
    ours = train(nproc=2, db=True, torch_npu="7.2.0").session() / "ASCEND_PROFILER_OUTPUT"

    def columns(path: Path) -> dict[str, list[str]]:
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as db:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in tables}

    for name in ("ascend_pytorch_profiler_0.db", "analysis.db"):
        theirs, mine = columns(real / name), columns(ours / name)
        for table, names in mine.items():
            assert [n for n in names if n != "deviceId" or table != "StepTraceTime"] == theirs[table], table


def generation_of(checkout: Path) -> dict[str, Any]:
    """Fields of the generations table, read from torch_npu's own code."""
    root = checkout / "torch_npu/profiler"

    def text(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    parser, messages = text("analysis/_profiling_parser.py"), text("analysis/prof_common_func/_constant.py")
    config, interface = text("experimental_config.py"), text("profiler_interface.py")
    info = messages.split("def print_info_msg")[1][:200]
    simplify = parser.split("def simplify_data")[1][:1200]
    return {
        "utc_names": "utcnow()" in text("_profiler_path_creator.py"),
        "utc_messages": "utcnow()" in info,
        "mode_in_message": "sync'} mode at" in parser or '"sync"} mode at' in parser or "mode at: " in parser,
        "done_file": "analyse.done" in parser,
        "versions_in_info": "TORCH_NPU_VERSION" in interface,
        "export_list": "_conver_export_type_to_list" in config or "_convert_export_type_to_list" in config,
        "export_warning": bool(re.search(r"export_type: Union\[str, list\] = None", config)),
        "mstx": "self._mstx =" in config,
        "skip_first_wait": "skip_first_wait" in text("scheduler.py"),
        "simplify_removes_framework": "fwk_path" in simplify,
    }


def checkouts(root: Path) -> dict[str, Path]:
    """Generation -> checkout, of the given one and its neighbours."""
    found = {}
    for folder in sorted({root, *root.parent.glob("v*-*")}):
        name = folder.name.rpartition("-")[2]
        if name in TABLE and (folder / "torch_npu/profiler").is_dir():
            found[name] = folder
    return found


@pytest.mark.real
@pytest.mark.parametrize("name", TABLE)
def test_the_generations_table_is_what_the_code_says(name: str, torch_npu_root: Path) -> None:
    folder = checkouts(torch_npu_root).get(name)
    if folder is None:
        pytest.skip(f"no checkout of torch_npu {name}")
    row = generation(name)
    facts = generation_of(folder)
    assert facts == {key: getattr(row, key) for key in facts}


VOLATILE = re.compile(
    r"\d+:\d\d:\d\d\.\d+|\d{4}-\d\d-\d\d[ -]\d\d:\d\d:\d\d|\[\d+\]|PID:\d+|Device:[^,]+|RankID:[-\d]+|/\S+_ascend_pt"
)
# of the stand-in's filler data, or of its parser processes, and nothing a host would print
FILLER = re.compile(
    "collected data has been lost|Failed to get profiler info json|CANN localtime diff|stat: path should be|"
    "command not found|ERR04008|Failed to export CANN Profiling data"
)


def spoken(output: str) -> list[str]:
    """What profiler.py said, without times and numbers of processes, in the order of each kind."""
    lines = [line.replace("|\b", "") for line in output.splitlines() if "profiler.py: " in line]
    return sorted(VOLATILE.sub("*", line).strip() for line in lines if not FILLER.search(line))


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("name", ["6.0.0", "7.2.0", "26.0.0", "26.1.0"])
@pytest.mark.parametrize(
    "iters, start, end, simplify, rank",
    [(5, 2, 4, False, 0), (3, 2, 4, True, 0), (5, 2, 2, False, 1), (2, 2, 5, False, 0)],
)
def test_sessions_and_messages_are_those_of_the_real_code(
    name: str,
    iters: int,
    start: int,
    end: int,
    simplify: bool,
    rank: int,
    mindspeed_mm_root: Path,
    torch_npu_root: Path,
    profiler_shared: Path,
    host: SimulatedHost,
    tmp_path: Path,
) -> None:
    folder, python = checkouts(torch_npu_root).get(name), os.environ.get("REAL_STACK_PYTHON")
    if folder is None:
        pytest.skip(f"no checkout of torch_npu {name}")
    if not python:
        pytest.skip("REAL_STACK_PYTHON is not set")
    config = json.loads((mindspeed_mm_root / "mindspeed_mm/tools/tools.json").read_text(encoding="utf-8"))
    config["profile"] |= {"enable": True, "ranks": [-1]}
    config["profile"]["static_param"] |= {"start_step": start, "end_step": end, "data_simplification": simplify}
    config["profile"]["static_param"]["save_path"] = "./collected"
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(config))
    entry = [str(mindspeed_mm_root / "pretrain_vlm.py"), "--train-iters", str(iters), "--mm-tool", str(tools)]
    ranks = {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank)}
    sides = {}
    for side, command, environment in (
        (
            "real",
            [
                *(python, str(REAL_RANK), str(profiler_shared / "tools/real_stack.py")),
                *("--mm", str(mindspeed_mm_root), "--torch-npu", str(folder), "--ms", "20"),
            ],
            dict(os.environ),
        ),
        ("simulated", [str(host.path_dir / "rank")], host.environment(torch_npu=name, ms=20, parse_fails=True)),
    ):
        work = tmp_path / side
        work.mkdir()
        if side == "simulated":
            text = (host.path_dir / "torchrun").read_text(encoding="utf-8").replace("launcher torchrun", "trainer")
            (host.path_dir / "rank").write_text(text, encoding="utf-8")
            (host.path_dir / "rank").chmod(0o755)
        done = subprocess.run(
            [*command, *entry],
            cwd=work,
            env={**environment, **ranks},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=100,
        )
        assert done.returncode == 0, done.stdout[-2000:]
        (session,) = (work / "collected").glob("*")
        sides[side] = (session, done.stdout)
    (real, real_output), (ours, our_output) = sides["real"], sides["simulated"]
    pattern = re.compile(r"(.+)_\d+_\d{17}_ascend_pt")
    assert pattern.fullmatch(real.name)[1] == pattern.fullmatch(ours.name)[1]  # type: ignore[index]
    assert {path.name.split("_")[0] for path in real.iterdir()} == {path.name.split("_")[0] for path in ours.iterdir()}
    infos = [json.loads((side / f"profiler_info_{rank}.json").read_text()) for side in (real, ours)]
    for info in infos:
        info["config"]["common_config"]["activities"].sort()
        for volatile in ("start_info", "end_info"):
            info[volatile] = sorted(info[volatile])
        # versions are the installation's own: the stand-in of the device calls every branch 2.7.1
        for version in ("torch_npu_version", "cann_version"):
            if version in info:
                info[version] = "told"
    assert infos[0] == infos[1]
    metadata = [json.loads((side / "profiler_metadata.json").read_text()) for side in (real, ours)]
    assert set(metadata[0]["ENV_VARIABLES"]) == set(metadata[1]["ENV_VARIABLES"])
    raw = {
        side.name: {re.sub(r"^PROF_[^/]+", "PROF", str(p.relative_to(side))) for p in side.rglob("*")}
        for side in (real, ours)
    }
    controls = {n for n in raw[real.name] if "/data/" not in n and not n.startswith("logs")}
    assert controls <= raw[ours.name] | {"ASCEND_PROFILER_OUTPUT"}, controls - raw[ours.name]
    assert spoken(our_output) == spoken(real_output)
    shutil.rmtree(tmp_path / "real")


@pytest.mark.real
def test_every_launch_of_a_release_is_read_as_the_real_code_reads_it(
    profiler_shared: Path,
    mindspeed_mm_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Launches as real bash produced them, with the engine and the iterations that MindSpeed-MM's own loaders found."""
    root = mindspeed_mm_root.parent / "master"
    if not root.is_dir():
        pytest.skip("no checkout of the branch the launches were recorded from")
    monkeypatch.chdir(root)
    read, wrong = 0, []
    for launch in json.loads((profiler_shared / "cases/truth/master.json").read_text(encoding="utf-8")):
        if launch["category"] not in ("megatron", "fsdp2") or not launch["argv"] or launch["launcher"] == "python":
            continue
        try:
            call = parse(launch["launcher"], launch["argv"][1:])
        except SystemExit:
            assert "expected one argument" in capsys.readouterr().err  # an unset variable lost an option's value
            continue
        if not Path(call.entry).is_file():
            continue
        engine = find_engine(Path(call.entry))
        if engine is None:
            continue  # pretrain_ae and others with a reader of their own
        monkeypatch.setenv("WORLD_SIZE", str(call.world_size))
        try:
            iters: object = read_job(engine, call.args, checkout_of(Path(call.entry))).train_iters
        except EngineError as error:
            if "duplicate anchor" in str(error):
                continue  # a shipped YAML that PyYAML refuses, here and in training
            iters = f"{error.kind}: {error}"
        read += 1
        if (engine, iters, call.world_size) != (
            launch["category"],
            launch["train_iters"]["value"],
            launch["world_size"],
        ):
            wrong.append(
                (launch["script"], engine, iters, call.world_size, launch["train_iters"], launch["world_size"])
            )
    assert not wrong, wrong
    assert read > 60


@pytest.mark.real
@pytest.mark.parametrize("name", TABLE)
def test_the_dynamic_template_is_torch_npu_s(name: str, torch_npu_root: Path) -> None:
    folder = checkouts(torch_npu_root).get(name)
    if folder is None:
        pytest.skip(f"no checkout of torch_npu {name}")
    path = folder / "torch_npu/profiler/_dynamic_profiler/_dynamic_profiler_monitor_shm.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (data,) = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "JSON_DATA"
    ]
    assert template(generation(name)) == ast.literal_eval(data)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("name", ["7.2.0", "26.1.0"])
@pytest.mark.parametrize("start", [30, 1, -1])
def test_an_edit_does_what_it_does_to_torch_npu_s_own_watcher(
    name: str, start: int, torch_npu_root: Path, profiler_shared: Path, host: SimulatedHost, tmp_path: Path
) -> None:
    folder, python = checkouts(torch_npu_root).get(name), os.environ.get("REAL_STACK_PYTHON")
    if folder is None or not python:
        pytest.skip(f"no checkout of torch_npu {name}, or no REAL_STACK_PYTHON")
    config = {"enable": True, "profile_type": "dynamic", "ranks": [-1]}
    checkout = make_checkout(tmp_path / "MindSpeed-MM", train_iters=40)
    tools = checkout.root / "mindspeed_mm/tools/tools.json"
    given = json.loads(tools.read_text())
    given["profile"] |= config
    given["profile"]["dynamic_param"]["config_path"] = str(tmp_path / "simulated")
    tools.write_text(json.dumps(given))
    real = profiler_shared / "tools/real_dynamic.py"
    words = ["--train-iters", "40", "--mm-tool", str(tools), "--log-interval", "1"]
    shm = {"SIMULATED_NPU_SHM": str(tmp_path / "shm")}
    sides = {
        "real": ([python, str(real), str(folder), str(tmp_path / "real"), "--steps", "40", "--ms", "200"], {}),
        "simulated": (
            [sys.executable, str(RUN), "trainer", str(checkout.root / "pretrain_vlm.py"), *words],
            host.environment({}, torch_npu=name, ms=200) | shm,
        ),
    }
    running = {}
    for side, (command, environment) in sides.items():
        with open(tmp_path / f"{side}.log", "wb") as log:
            running[side] = subprocess.Popen(
                command,
                cwd=checkout.root,
                env={**os.environ, **environment, "RANK": "0", "WORLD_SIZE": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
    for side in sides:
        file, log_file = tmp_path / side / "profiler_config.json", tmp_path / f"{side}.log"
        deadline = time.monotonic() + 30
        while "iteration        3/" not in log_file.read_text():
            assert time.monotonic() < deadline and running[side].poll() is None, log_file.read_text()
            time.sleep(0.02)
        edit = json.loads(file.read_text()) | {
            "start_step": start,
            "active": 2,
            "prof_dir": str(tmp_path / f"{side}-out"),
        }
        new = file.with_name("new.json")
        new.write_text(json.dumps(edit))
        os.utime(new, (time.time() + 2, time.time() + 2))
        new.replace(file)
    assert {side: process.wait(timeout=60) for side, process in running.items()} == {"real": 0, "simulated": 0}
    outputs = {side: (tmp_path / f"{side}.log").read_text() for side in sides}
    said = {}
    for side in sides:
        lines = [line for log in (tmp_path / side / "log").iterdir() for line in log.read_text().splitlines()]
        messages = sorted(line.split("_dynamic_profiler_utils.py: ")[1] for line in lines)
        said[side] = [re.sub(r"at \d+ step", "at N step", line) if start == -1 else line for line in messages]
    late = {side: "config is not effective. The start_step=1," in output for side, output in outputs.items()}
    assert said["real"] == said["simulated"]
    assert late["simulated"] is (start == 1)
    if "_init" in sorted(path.name for path in (folder / "torch_npu").iterdir()):  # else the stand-in mutes warnings
        assert late["real"] is (start == 1)
