"""SKILL.md as the skill format wants it, and complete for an agent with and without the server."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import mindspeed_mm_train_profiler as package

ROOT = Path(package.__file__).parent
NAME = "mindspeed-mm-train-profiler"
TEXT = (ROOT / "SKILL.md").read_text(encoding="utf-8")
FRONT, BODY = TEXT.split("\n---\n", 1)
HEAD = yaml.safe_load(FRONT.removeprefix("---\n"))


def test_it_is_a_valid_skill(tmp_path: Path) -> None:
    """SK-33. The name must be the folder's: the files are copied into one of that name."""
    program = shutil.which("agentskills", path=str(Path(sys.executable).parent)) or shutil.which("agentskills")
    if program is None:
        pytest.skip("skills-ref is not installed")
    folder = tmp_path / NAME
    shutil.copytree(ROOT / "skill" / "references", folder / "skill" / "references")
    shutil.copy(ROOT / "SKILL.md", folder)
    done = subprocess.run([program, "validate", str(folder)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_head_and_length() -> None:
    """SK-01, SK-33."""
    assert HEAD["name"] == NAME
    description = HEAD["description"]
    assert len(description) <= 1024
    assert len(HEAD["compatibility"]) <= 500
    for word in (
        "profiling",
        "性能分析",
        "性能数据采集",
        "Profiling采集",
        "多模态训练profiling",
        "MindSpeed-MM profiling",
    ):
        assert word in description
    assert "Use when" in description and "触发" in description
    assert len(TEXT.splitlines()) < 500


def test_every_reference_exists_and_is_named() -> None:
    """SK-34."""
    targets = set(re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT))
    assert targets and all((ROOT / target).is_file() for target in targets)
    assert {f"skill/references/{path.name}" for path in (ROOT / "skill" / "references").glob("*.md")} == targets
    for path in (ROOT / "skill" / "references").glob("*.md"):
        assert len(path.read_text(encoding="utf-8").splitlines()) > 10, path


@pytest.mark.parametrize(
    "sentence",
    [
        "开始 Profiling 采集前，请提供训练脚本路径（.sh）— 已配置好模型、数据、权重的可运行训练脚本。",
        "Profiling 需要可运行的训练脚本，请先准备好再进行采集。",
        "当前环境未检测到 NPU，请在有 Ascend NPU 的环境中运行。",
        "请安装 torch_npu 后再试。",
        "训练脚本中引用的路径不存在：",
        "训练执行失败（退出码: N）。Profiling 采集需要训练正常运行。",
        "确认后开始配置。需修改请说明。",
    ],
)
def test_stops_are_worded_as_the_skill_words_them(sentence: str) -> None:
    """SK-02, SK-03, SK-18, SK-19, SK-20, SK-22, SK-27."""
    assert sentence in BODY


def test_it_serves_agents_with_and_without_the_server() -> None:
    """SK-35: the tools that are named exist or are marked optional, and what cannot be checked is said."""
    from mindspeed_mm_train_profiler.tools import ALL

    named = set(re.findall(r"`([a-z]+_[a-z]+)\(", BODY))
    assert named - {spec.name for spec in ALL} <= {"trigger_dynamic"}
    assert "无法保证" in BODY and "can\n> only be checked roughly" in BODY
    assert "What this way cannot check" in (ROOT / "skill/references/without-server.md").read_text(encoding="utf-8")


def test_examples_in_the_references_parse() -> None:
    """SK-23: the profile blocks are complete for the engine they are for."""
    import json

    text = (ROOT / "skill" / "references" / "without-server.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", text, re.S)
    megatron = json.loads(block)["profile"]
    assert set(megatron) == {"enable", "profile_type", "ranks", "static_param", "dynamic_param"}
    (block,) = re.findall(r"```yaml\n(.*?)```", text, re.S)
    fsdp2 = yaml.safe_load(block)["tools"]["profile"]
    assert "dynamic_param" not in fsdp2 and set(fsdp2["static_param"]) == set(megatron["static_param"])


def test_every_correction_has_its_reason() -> None:
    """SK-36."""
    lines = (ROOT / "skill" / "references" / "corrections.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")][1:]
    assert len(rows) >= 20
    assert all(len(row) == 3 and all(row) for row in rows)


def test_every_requirement_is_carried_by_a_test() -> None:
    """Each id of docs/requirements.md stands in a test, and each id in a test stands there."""
    listed = re.findall(r"^\| (SK-\d+) \|", (ROOT / "docs" / "requirements.md").read_text(encoding="utf-8"), re.M)
    carried: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        carried |= set(re.findall(r"SK-\d+", text))
        for first, last in re.findall(r"SK-(\d+) to SK-(\d+)", text):
            carried |= {f"SK-{number:02}" for number in range(int(first), int(last) + 1)}
    assert len(listed) == len(set(listed)) > 25
    assert set(listed) == carried
