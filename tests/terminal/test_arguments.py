"""Options are made from the tool's signature, and give the tool what its types want."""

import argparse
import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import Acknowledgement, ProfileOptions
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.terminal import arguments, commands, speech
from mindspeed_mm_train_profiler.tools import ALL
from mindspeed_mm_train_profiler.tools.common import Injected


def tool(
    script: str,
    options: ProfileOptions | None = None,
    workdir: str | None = None,
    script_args: list[str] | None = None,
    env: dict[str, str] | None = None,
    confirmed: bool = False,
    wait_s: Annotated[int, Field(ge=0, le=20, description="seconds to wait, 100% at most")] = 0,
    start: Literal["now"] | int = "now",
    answer: Annotated[Any, Injected("build_asking:Answer")] = None,
    language: Literal["zh", "en"] | None = None,
) -> None: ...


def parse(*words: str) -> dict[str, Any]:
    parser = argparse.ArgumentParser(exit_on_error=False)
    arguments.add_to(parser, tool)
    return arguments.values(tool, vars(parser.parse_args(words)))


def test_only_what_was_given_is_passed() -> None:
    assert parse("a.sh") == {"script": "a.sh"}


def test_every_kind_of_option() -> None:
    given_values = parse(
        "a.sh", "--workdir", "/w", "--script-args", "one", "--script-args", "two words", "--env", "A=1=2",
        "--confirmed", "--wait-s", "7", "--start", "12", "--level", "level2", "--ranks", "0,2", "--no-with-cpu",
        "--acknowledge", "all_ranks",
    )  # fmt: skip
    assert given_values.pop("options") == ProfileOptions(
        level="level2", ranks=[0, 2], with_cpu=False, acknowledge=["all_ranks"]
    )
    assert given_values == {
        "script": "a.sh",
        "workdir": "/w",
        "script_args": ["one", "two words"],
        "env": {"A": "1=2"},
        "confirmed": True,
        "wait_s": 7,
        "start": 12,
    }


def test_all_ranks_by_word() -> None:
    assert parse("a.sh", "--ranks", "all")["options"].ranks == "all"


@pytest.mark.parametrize(
    "words", [("--wait-s", "21"), ("--wait-s", "x"), ("--env", "A"), ("--start-step", "0"), ("--ranks", "0,-1")]
)
def test_a_value_that_does_not_fit_is_a_coded_error(words: tuple[str, str]) -> None:
    with pytest.raises(CodedError) as caught:
        parse("a.sh", *words)
    assert caught.value.code == "option_invalid"
    assert caught.value.params["option"] == words[0].strip("-")


def test_lists_of_numbers_and_fixed_words_take_commas(capsys: pytest.CaptureFixture[str]) -> None:
    from mindspeed_mm_train_profiler.terminal.main import build_parser

    given = vars(build_parser().parse_args(["verify", "--path", "x", "--ranks", "0,1", "--ranks", "3"]))
    function = commands.specs()["verify_output"].function
    assert arguments.values(function, given)["expected"].ranks == [0, 1, 3]
    given = vars(build_parser().parse_args(["build", "x.sh", "--acknowledge", "all_ranks,long_window"]))
    function = commands.specs()["build_config"].function
    assert arguments.values(function, given)["options"].acknowledge == ["all_ranks", "long_window"]
    with pytest.raises(SystemExit):
        build_parser().parse_args(["build", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "checkpoint_overwrite" in told and "separated by commas, or repeated" in told and "repeatable" in told
    with pytest.raises(SystemExit):
        build_parser().parse_args(["status", "--help"])
    assert "0 to 20" in capsys.readouterr().out


def test_wrong_usage_is_told_by_the_command_itself(capsys: pytest.CaptureFixture[str]) -> None:
    from mindspeed_mm_train_profiler.terminal.main import run

    with pytest.raises(SystemExit) as ended:
        run(["verify", "run-1"])
    assert ended.value.code == 2 and "verify" in capsys.readouterr().err.splitlines()[0]


def test_every_command_that_is_offered_completes_its_options() -> None:
    import shtab

    from mindspeed_mm_train_profiler.terminal.main import build_parser

    script = shtab.complete(build_parser(), "bash")
    assert "--token-file" in script and "--failures" in script and "--run-id" in script


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Use another script, or acknowledge checkpoint_overwrite.", "--acknowledge checkpoint_overwrite."),
        ("请使用其他脚本，或确认 checkpoint_overwrite。", "或用 --acknowledge checkpoint_overwrite。"),
        ("set another port; override port_in_use goes on.", "; --override port_in_use goes on."),
        ("可用 override 传入 port_in_use 继续。", "可用 --override port_in_use 继续。"),
        ("Build again, or pass override originals_changed to run it.", "or --override originals_changed to run it."),
        ("refuses until then, unless acknowledged.", "unless acknowledged."),
        ("train_epochs overrides train_iters", "overrides train_iters"),
    ],
)
def test_what_tools_take_by_name_are_options_here(text: str, told: str) -> None:
    assert speech.as_commands(text).endswith(told)


@pytest.mark.parametrize("language", wording.LANGUAGES)
def test_every_hint_that_names_a_risk_names_its_option(language: wording.Language) -> None:
    """Whatever the catalogues say, nobody at a terminal is told to acknowledge in words alone."""
    names = "|".join(
        [*get_args(Acknowledgement), "port_in_use", "npu_busy", "originals_changed", "remove_shared_memory"]
    )
    for key, text in wording.catalogue(language).items():
        if key.endswith((".hint", ".fix")) and re.search(rf"(?:acknowledge|确认|override|传入) (?:{names})\b", text):
            assert re.search(rf"--(?:acknowledge|override) (?:{names})\b", speech.as_commands(text)), (key, text)


def test_tools_are_spoken_of_as_commands() -> None:
    assert speech.as_commands("list_runs shows it; verify_output(x) a/list_runs.py list_runs=1") == (
        "`mindspeed-mm-train-profiler runs` shows it; `mindspeed-mm-train-profiler verify`(x) a/list_runs.py list_runs=1"
    )
    line = speech.command_line("poll_status", {"run_id": "run-1", "wait_s": 15, "cursor": None})
    assert line == "mindspeed-mm-train-profiler status run-1 --wait-s 15"
    line = speech.command_line("build_config", {"script": "a b.sh", "options": {"start_step": 3, "ranks": [0, 1]}})
    assert line.startswith("mindspeed-mm-train-profiler build 'a b.sh'") and "--start-step 3" in line
    given = shlex.split(line)[1:]
    from mindspeed_mm_train_profiler.terminal.main import build_parser

    made = arguments.values(commands.specs()["build_config"].function, vars(build_parser().parse_args(given)))
    assert made["options"].ranks == [0, 1] and made["script"] == "a b.sh"


@pytest.mark.parametrize("spec", ALL, ids=lambda spec: spec.name)
def test_every_injected_annotation_is_there(spec: Any) -> None:
    hints = inspect.signature(spec.function, eval_str=True).parameters.values()
    marks = [extra for hint in hints for extra in get_args(hint.annotation)[1:] if isinstance(extra, Injected)]
    assert len(marks) == (spec.name in {"build_config", "choose_options", "poll_status", "trigger_dynamic"})
    for mark in marks:
        assert "Resolve" in repr(mark.load()) or "Context" in repr(mark.load()), "what the SDK goes by"


@pytest.mark.parametrize("words", [["detect", "nowhere.sh"], ["runs"], ["--help"], ["build", "--help"], ["doctor"]])
def test_a_command_does_not_load_the_sdk(words: list[str], own_state: Path) -> None:
    """Its import takes longer than all the rest of a command."""
    program = (
        "import atexit, sys\n"
        "atexit.register(lambda: print('loaded', sorted({n.partition('.')[0] for n in sys.modules} & {'mcp', 'ruamel'})))\n"
        "from mindspeed_mm_train_profiler.cli import main\n"
        f"sys.argv[1:] = {words!r}\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.rstrip().endswith("loaded []"), done.stdout[-300:] + done.stderr[-1000:]


def test_what_the_server_fills_is_no_option() -> None:
    names = [argument.key for argument in arguments.arguments_of(tool)]
    assert "answer" not in names and "language" not in names
    assert names[0] == "script" and "options.start_step" in names


@given(st.lists(st.integers(0, 4096), min_size=1, max_size=6, unique=True))
def test_any_list_of_ranks_arrives_as_written(ranks: list[int]) -> None:
    assert parse("a.sh", "--ranks", ",".join(map(str, ranks)))["options"].ranks == ranks
