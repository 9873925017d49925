"""summarize_profile and compare_profiles as a client meets them; the page and the picture."""

import base64
import csv
import json
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp import Client

from mindspeed_mm_train_profiler import state
from mindspeed_mm_train_profiler.server import build_server

Call = Callable[..., Awaitable[dict[str, Any]]]
HOSTILE = '<script>alert("x")</script>&$x^2$'


@pytest.fixture
def call() -> Call:
    async def ask(tool: str, /, **arguments: Any) -> dict[str, Any]:
        async with Client(build_server()) as client:
            result = await client.call_tool(tool, arguments)
        images = [block for block in result.content if block.type == "image"]
        return {**(result.structured_content or {}), "_error": result.is_error, "_images": images}

    return ask


def kernels(session: Path, *rows: tuple[str, str, float]) -> None:
    """A kernel table: name, input shapes, us."""
    lines = ["Step Id,Name,Type,Accelerator Core,Duration(us),Input Shapes"]
    lines += [f'4,{name},Kind,AI_CORE,{us},"""{shapes}"""' for name, shapes, us in rows]
    path = session / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


async def test_numbers_page_and_picture(call: Call, sessions: ModuleType, tmp_path: Path) -> None:
    session = sessions.write_session(tmp_path / "data")
    kernels(session, (HOSTILE, "4,4", 7.5), ("MatMul1", "8,8", 2.5))
    before = sorted(path for path in (tmp_path / "data").rglob("*"))
    told = await call("summarize_profile", path=str(tmp_path / "data"), language="en")
    assert not told["_error"]
    assert [(row["rank"], row["step"], row["compute_us"]) for row in told["steps"]] == [(0, 4, 10.0), (0, 5, 10.0)]
    assert told["top_operators"][0]["name"] == HOSTILE and told["top_operators"][0]["share"] == 0.75
    assert told["ranks"][0]["sources"]["steps"] == "step_trace_time.csv"
    assert "steps_inflated" in {row["code"] for row in told["warnings"]}
    assert sorted(path for path in (tmp_path / "data").rglob("*")) == before, "nothing is written among the data"
    page = Path(told["report"]["html"])
    assert state.state_dir() in page.parents and page.stat().st_mode & 0o777 == 0o600
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text and "http" not in text.replace("http-equiv", "")
    pytest.importorskip("matplotlib", reason="the picture wants the extra 'report'")
    (image,) = told["_images"]
    assert image.mime_type == "image/png" and base64.b64decode(image.data).startswith(b"\x89PNG")
    assert Path(told["report"]["png"]).read_bytes() == base64.b64decode(image.data)


@pytest.mark.parametrize(("language", "title"), [("en", "Step breakdown"), ("zh", "Step 耗时拆解")])
async def test_the_page_opens_in_a_browser(
    call: Call, sessions: ModuleType, tmp_path: Path, language: str, title: str
) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium")
    sessions.write_session(tmp_path / "data")
    page = (await call("summarize_profile", path=str(tmp_path / "data"), language=language))["report"]["html"]
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={tmp_path / 'b'}",
            "--dump-dom",
            page,
        ],
        capture_output=True,
        text=True,
        timeout=90,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        pytest.skip(f"Chromium does not run here: {done.stderr[-200:]}")
    assert title in done.stdout and "<rect" in done.stdout and f'lang="{language}"' in done.stdout


async def test_many_ranks_stay_short_and_what_is_left_out_is_counted(
    call: Call, sessions: ModuleType, tmp_path: Path
) -> None:
    for rank in range(20):
        session = sessions.write_session(tmp_path, rank=rank)
        table = session / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
        if rank == 13:
            table.write_text(table.read_text(encoding="utf-8").replace(",10,", ",99,"), encoding="utf-8")
    told = await call("summarize_profile", path=str(tmp_path))
    assert told["slow_rank"] == 13 and told["steps"][0]["rank"] == 13
    assert len(told["steps"]) == 12 and told["omitted"]["steps"] == 28
    only = await call("summarize_profile", path=str(tmp_path), ranks=[7])
    assert {row["rank"] for row in only["steps"]} == {7} and only["omitted"] == {}


async def test_two_profiles_are_aligned_by_name_and_shape(call: Call, sessions: ModuleType, tmp_path: Path) -> None:
    old, new = sessions.write_session(tmp_path / "old"), sessions.write_session(tmp_path / "new")
    kernels(old, ("MatMul", "4,4", 10.0), ("MatMul", "8,8", 20.0), ("Gone", "1", 6.0))
    kernels(new, ("MatMul", "4,4", 10.0), ("MatMul", "8,8", 8.0), ("Fresh", "2", 2.0))
    table = new / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
    table.write_text(table.read_text(encoding="utf-8").replace(",10,", ",5,"), encoding="utf-8")
    told = await call("compare_profiles", before=str(tmp_path / "old"), after=str(tmp_path / "new"), top=3)
    measures = {row["measure"]: (row["before_us"], row["after_us"]) for row in told["measures"]}
    assert measures["compute_us"] == (10.0, 5.0)
    assert measures["step_us"] == (16.0, 11.0)  # compute, communication not overlapped, free
    rows = [(row["name"], row["shapes"], row["before_us"], row["after_us"]) for row in told["operators"]]
    # two steps were captured: one step's share is half
    assert rows == [("MatMul", "8,8", 10.0, 4.0), ("Gone", "1", 3.0, 0.0), ("Fresh", "2", 0.0, 1.0)]
    assert told["omitted"] == 1 and [row["code"] for row in told["warnings"]] == ["steps_inflated"]


async def test_what_makes_a_comparison_doubtful_is_said(call: Call, sessions: ModuleType, tmp_path: Path) -> None:
    sessions.write_session(tmp_path / "old")
    new = sessions.write_session(tmp_path / "new", rank=1)
    (new / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").unlink()
    table = new / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("3,4,", "3,8,"), encoding="utf-8")
    told = await call("compare_profiles", before=str(tmp_path / "old"), after=str(tmp_path / "new"))
    codes = [row["code"] for row in told["warnings"]]
    assert codes == ["steps_inflated", "compare_steps_differ", "compare_ranks_differ", "compare_no_operators"]
    assert told["operators"] == []
    nothing = await call("compare_profiles", before=str(tmp_path / "old"), after=str(tmp_path))
    assert not nothing["_error"]
    (tmp_path / "empty").mkdir()
    refused = await call("compare_profiles", before=str(tmp_path / "old"), after=str(tmp_path / "empty"))
    assert refused["_error"] and refused["error"]["code"] == "summary_nothing"
    unknown = await call("compare_profiles", before="run-20260101-000000-abcdef", after=str(tmp_path / "old"))
    assert unknown["error"]["code"] == "run_unknown"


async def test_verify_tells_steps_and_operators_from_small_files(
    call: Call, sessions: ModuleType, tmp_path: Path
) -> None:
    sessions.write_session(tmp_path)
    told = (await call("verify_output", path=str(tmp_path)))["summary_numbers"]
    steps = [(row["rank"], row["step"], row["compute_us"], row["free_us"]) for row in told["steps"]]
    assert steps == [(0, 4, 10.0, 2.0), (0, 5, 10.0, 2.0)]
    assert told["top_operators"] == [{"rank": 0, "type": "MatMul", "core": "AI_CORE", "count": 1, "total_us": 3.5}]
    assert told["unit"] == "us" and told["ranks_left_out"] == 0


async def test_real_numbers_keep_their_digits(call: Call, profiler_shared: Path) -> None:
    """Steps to the nanosecond, as an independent reading of the csv tells them."""
    folder = profiler_shared / "cases" / "profiles" / "st-level2"
    told = await call("summarize_profile", path=str(folder))
    for row in told["steps"]:
        file = folder / f"rank_{row['rank']}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "step_trace_time.csv"
        with file.open(encoding="utf-8", newline="") as stream:
            line = next(csv.DictReader(stream))
        assert row["compute_us"] == pytest.approx(float(line["Computing"]))
        assert row["free_us"] == pytest.approx(float(line["Free"]))
    assert [row["rank"] for row in told["steps"]] == [0, 1]
    file = folder / "rank_0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"
    totals: dict[str, float] = {}
    with file.open(encoding="utf-8", newline="") as stream:
        for line in csv.DictReader(stream):
            if line["Accelerator Core"] != "COMMUNICATION":
                totals[line["Name"]] = totals.get(line["Name"], 0) + float(line["Duration(us)"])
    first = next(row for row in told["top_operators"] if row["rank"] == 0)
    assert first["total_us"] == pytest.approx(totals[first["name"]])
    assert first["share"] == pytest.approx(totals[first["name"]] / sum(totals.values()))


async def test_windows_without_step_ids_are_compared_by_their_recorded_length(
    call: Call, sessions: ModuleType, tmp_path: Path
) -> None:
    sessions.write_session(tmp_path / "old", cpu=False)
    new = sessions.write_session(tmp_path / "new", cpu=False)
    information = sessions.information(0, cpu=False)
    information["config"]["common_config"]["schedule"]["active"] = 4
    sessions.put(new / "profiler_info_0.json", json.dumps(information))
    told = await call("compare_profiles", before=str(tmp_path / "old"), after=str(tmp_path / "new"))
    (caution,) = [row for row in told["warnings"] if row["code"] == "compare_no_step_ids"]
    assert "2 and 4 steps" in caution["message"]
    compute = next(row for row in told["measures"] if row["measure"] == "compute_us")
    assert compute["before_us"] == 2 * compute["after_us"]


async def test_a_copy_of_the_results_alone_is_summed_up(call: Call, sessions: ModuleType, tmp_path: Path) -> None:
    source = sessions.write_session(tmp_path / "save")
    (source / "ASCEND_PROFILER_OUTPUT").rename(tmp_path / "results")
    told = await call("summarize_profile", path=str(tmp_path / "results"))
    assert [row["step"] for row in told["steps"]] == [4, 5] and told["steps"][0]["device"] == 3
    verdict = await call("verify_output", path=str(tmp_path / "results"))
    assert verdict["verdict"] == "partial" and "results_alone" in str(verdict["ranks"])
    parsed = await call("parse_offline", path=str(tmp_path / "results"))
    assert [row["code"] for row in parsed["skipped"]] == ["already_parsed"] and parsed["sessions"] == []
