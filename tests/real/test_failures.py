"""Real failures of MindSpeed-MM and torch_npu, told as what they are: the run's diagnosis and the verdict."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindspeed_mm_train_profiler import profile_config, profile_data
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_data.numbers import session_numbers
from mindspeed_mm_train_profiler.runs import launch, poll, stop, this_host
from mindspeed_mm_train_profiler.runs.folder import RunFolder

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.timeout(300)]
MEGATRON = "examples/qwen2.5vl/finetune_qwen2_5_vl_7b.sh"
FSDP2 = ("examples/qwen3_5/finetune_qwen3_5_4B.sh", "examples/qwen3_5/finetune_qwen3_5_27B.sh")
OPTIONS = {"start_step": 3, "end_step": 5, "train_iters": 7, "acknowledge": ["checkpoint_overwrite", "world_changes"]}


def built(checkout: Path, name: str, provide: Callable[[dict[str, Any]], None], **options: Any) -> dict[str, Any]:
    script = checkout / name
    if not script.is_file():
        pytest.skip(f"this release has no {name}")
    plan = read_launch(script, workdir=checkout)
    provide({"missing_paths": [{"path": str(missing.path)} for missing in plan.missing_paths]})
    plan = read_launch(script, workdir=checkout)
    return profile_config.build(profile_config.prepare(plan, ProfileOptions(**{**OPTIONS, **options})))


def run(manifest: dict[str, Any], host: dict[str, str]) -> tuple[RunFolder, dict[str, Any]]:
    """The run to its end, whatever the copies hold by now."""
    with launch.launch_lock(manifest["config_id"]):
        folder = this_host.start(manifest, host, None)
    deadline = time.monotonic() + 200
    while time.monotonic() < deadline:
        facts = poll.poll(folder)
        if facts["state"] not in poll.ACTIVE:
            return folder, facts
        time.sleep(0.2)
    stop.stop(folder, 1)
    raise AssertionError(poll.poll(folder))


def codes(facts: dict[str, Any]) -> list[str]:
    return [item["code"] for item in facts["diagnosis"]]


def copy_of(manifest: dict[str, Any], role: str) -> Path:
    return next(Path(copy["copy"]) for copy in manifest["copies"] if copy["role"] == role)


def test_a_key_that_is_missing(checkout: Path, host: dict[str, str], provide: Any, own_state: Path) -> None:
    manifest = built(checkout, MEGATRON, provide)
    tools = copy_of(manifest, "tools_json")
    data = json.loads(tools.read_text(encoding="utf-8"))
    del data["profile"]["dynamic_param"]  # what the first edition of the skill did
    tools.write_text(json.dumps(data), encoding="utf-8")
    _, facts = run(manifest, host)
    assert facts["state"] == "failed" and codes(facts)[0] == "profile_key_missing", facts["diagnosis"]


def test_dynamic_asked_of_fsdp2(checkout: Path, host: dict[str, str], provide: Any, own_state: Path) -> None:
    name = next((name for name in FSDP2 if (checkout / name).is_file()), FSDP2[0])
    manifest = built(checkout, name, provide)
    config = copy_of(manifest, "yaml")
    text = config.read_text(encoding="utf-8")
    assert "profile_type: static" in text
    config.write_text(text.replace("profile_type: static", "profile_type: dynamic"), encoding="utf-8")
    _, facts = run(manifest, host)
    assert facts["state"] == "failed" and codes(facts)[0] == "dynamic_unsupported", facts["diagnosis"]


def test_a_parser_without_msprof(checkout: Path, host: dict[str, str], provide: Any, own_state: Path) -> None:
    """The run succeeds and the log says that all is parsed; nothing is."""
    manifest = built(checkout, MEGATRON, provide, analyse_flag=True)
    if not manifest["capabilities"]["analyse_flag"]:
        pytest.skip("this release parses always; another test covers it")
    folder, facts = run(manifest, host)
    assert facts["state"] == "succeeded" and "msprof_missing" in codes(facts), facts["diagnosis"]
    assert "All profiling data parsed" in folder.log.read_text(encoding="utf-8", errors="replace")
    verdict = profile_data.verify(Path(manifest["save_path"]), profile_data.Expectation(ranks=[0], steps=[3, 4]))
    assert verdict.word == "unparsed"
    assert "parse_failed" in {problem.code for rank in verdict.ranks for problem in rank.problems}


def test_a_session_parsed_by_torch_npu_itself(
    checkout: Path, host: dict[str, str], provide: Any, own_state: Path, tmp_path: Path
) -> None:
    """CANN's exporter alone is stood in; names, columns and edges of the results are torch_npu's own."""
    program = tmp_path / "cann" / "tools" / "profiler" / "bin" / "msprof"
    program.parent.mkdir(parents=True)
    beside = program.parent.parent / "profiler_tool" / "analysis" / "msprof"  # torch_npu looks that it is there
    beside.mkdir(parents=True)
    (beside / "msprof.py").touch()
    standin = Path(__file__).with_name("msprof_standin.py")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {standin} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    with_exporter = {**host, "PATH": f"{program.parent}{os.pathsep}{host['PATH']}"}
    folder, facts = run(built(checkout, MEGATRON, provide, with_cpu=False, level="level1"), with_exporter)
    assert facts["state"] == "succeeded", facts
    build = folder.read("build") or {}
    verdict = profile_data.verify(Path(build["save_path"]), profile_data.Expectation(ranks=[0]), deep=True)
    told = {problem.code: problem.looked for rank in verdict.ranks for problem in rank.problems if not problem.remark}
    assert (verdict.word, told) == ("complete", {})
    (rank,) = verdict.ranks
    assert {"kernel_details.csv", "step_trace_time.csv", "op_statistic.csv", "trace_view.json"} <= set(rank.files)
    assert rank.session is not None
    numbers = session_numbers(rank.session)
    assert numbers.kernel_total_us == pytest.approx(3 * (400.5 + 99.5))
    assert [(row.name, row.core, row.count) for row in numbers.operators][:1] == [("MatMul_1", "AI_CORE", 3)]
    assert [(row.step, row.values["compute_us"]) for row in numbers.steps] == [(None, pytest.approx(1500.0))]


def test_a_variable_that_disables_the_profiler(
    checkout: Path, host: dict[str, str], provide: Any, own_state: Path
) -> None:
    """The copy takes it out of the launcher; by hand, or another way, it does this."""
    manifest = built(checkout, MEGATRON, provide)
    _, facts = run(manifest, {**host, "PROFILING_MODE": "false"})
    assert facts["state"] == "succeeded" and codes(facts)[0] in {"profiler_env_disabled", "window_passed_no_session"}
    assert "profiler_env_disabled" in codes(facts)
    assert facts["sessions_seen"] == []
