"""A foreign client: the MCP Inspector's command line over stdio."""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from mindspeed_mm_train_profiler.skill.questions import QUESTIONS
from mindspeed_mm_train_profiler.tools import ALL

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
SERVER = [sys.executable, "-m", "mindspeed_mm_train_profiler.cli"]
Npx = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.slow
def test_the_inspector_lists_the_tools(npx: Npx) -> None:
    done = npx(INSPECTOR, "--cli", *SERVER, "--method", "tools/list")
    assert done.returncode == 0, done.stderr[-1000:]
    assert [tool["name"] for tool in json.loads(done.stdout)["tools"]] == [spec.name for spec in ALL]


@pytest.mark.slow
def test_the_inspector_gets_a_coded_failure(npx: Npx) -> None:
    # the Inspector passes few variables on: a path below the server's working directory is allowed by default
    call = ("--method", "tools/call", "--tool-name", "detect_engine", "--tool-arg", "script=absent-script.sh")
    done = npx(INSPECTOR, "--cli", *SERVER, *call)  # it tells a tool error on stderr and by its exit code
    said = done.stdout + done.stderr
    assert "no_script" in said and "absent-script.sh" in said


@pytest.mark.slow
def test_the_inspector_reads_questions_and_the_prompt(npx: Npx) -> None:
    read = npx(INSPECTOR, "--cli", *SERVER, "--method", "resources/read", "--uri", "profiling://questions/zh")
    assert read.returncode == 0, read.stderr[-1000:]
    questions = json.loads(json.loads(read.stdout)["contents"][0]["text"])["questions"]
    order = [question["id"] for question in questions]
    assert order[-8:] == [question.id for question in QUESTIONS]
    prompt = npx(INSPECTOR, "--cli", *SERVER, "--method", "prompts/get", "--prompt-name", "collect_profile")
    assert prompt.returncode == 0 and "launch" in prompt.stdout.lower()


@pytest.mark.slow
def test_the_inspector_gets_the_open_questions_as_data(npx: Npx) -> None:
    call = ("--method", "tools/call", "--tool-name", "choose_options", "--tool-arg", "language=zh")
    done = npx(INSPECTOR, "--cli", *SERVER, *call)
    assert done.returncode == 0, done.stderr[-1000:]
    told = json.loads(done.stdout)["structuredContent"]
    assert told["status"] == "needs_answers" and told["questions"][0]["id"] == "profile_type"
    assert told["next_step"]["tool"] == "choose_options"
