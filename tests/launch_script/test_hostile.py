"""Hostile and broken scripts: an answer or a coded error, in bounded time and memory, never a traceback."""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.launch_script import read_launch

from .corpus import CASES

SEEDS = [case.script for case in CASES]
HOSTILE = {
    "deep substitution": "A=" + "$(" * 300 + "echo x" + ")" * 300 + "\ntorchrun $A t.py\n",
    "deep quotes": "A=" + '"$(echo ' * 200 + "x" + ')"' * 200 + "\ntorchrun t.py\n",
    "deep braces": "A=" + "${B:-" * 500 + "x" + "}" * 500 + "\ntorchrun $A t.py\n",
    "deep arithmetic": "A=$((" + "(" * 2000 + "1" + ")" * 2000 + "))\ntorchrun $A t.py\n",
    "deep parentheses": "(" * 1500 + "echo" + ")" * 1500 + "\ntorchrun t.py\n",
    "deep if": "if true; then\n" * 400 + "torchrun t.py\n" + "fi\n" * 400,
    "doubling": "A=xxxxxxxxxxxxxxxx\n" + "A=$A$A\n" * 60 + "torchrun $A t.py\n",
    "doubling array": "A=(x x)\n" + 'A=("${A[@]}" "${A[@]}")\n' * 40 + 'torchrun "${A[@]}" t.py\n',
    "brace expansion": "torchrun {1..999999999} {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} t.py\n",
    "endless loop": "while true; do A=x$A; done\ntorchrun t.py\n",
    "nested loops": "for a in 1 2 3 4 5 6 7 8 9; do " * 8 + "X=$X.;" + " done;" * 8 + "\ntorchrun t.py\n",
    "endless recursion": "f() { f; f; }\nf\ntorchrun t.py\n",
    "mutual recursion": "f() { g x$1; }\ng() { f y$1; }\nf\ntorchrun t.py\n",
    "sources itself": '. "$0"\ntorchrun t.py\n',
    "calls itself": 'bash "$0"\ntorchrun t.py\n',
    "giant word": "A=" + "x" * 2_000_000 + "\ntorchrun $A t.py\n",
    "giant pattern": "A=" + "a" * 5000 + "\nB=${A##" + "*a" * 190 + "b}\ntorchrun $B t.py\n",
    "pattern that backtracks": "A=" + "a" * 3000 + "\n[[ $A =~ (a+)+$ ]] && B=1\nC=${A//*a*a*a*a*b/}\ntorchrun t.py\n",
    "ten thousand lines": "X=$X1\n" * 10_000 + "torchrun t.py\n",
    "power": "A=$((2**999999))\nB=$((1<<99999999))\ntorchrun $A t.py\n",
    "eval of itself": 'A=\'eval "$A"\'\neval "$A"\ntorchrun t.py\n',
    "unclosed quote": 'A="x\ntorchrun t.py\n' * 50,
    "unclosed heredoc": "cat <<EOF\ntorchrun t.py\n",
    "null commands": ";;;;&&||((()))\n[[ ]]\n[ \n" * 100,
    "unicode": "变量=1\nexport é=2\ntorchrun \u202e t.py ＄{A}\n",
}


def answered(script: Path) -> None:
    try:
        plan = read_launch(script)
        assert plan.engine in {"megatron", "fsdp2", "unsupported"}
    except CodedError as error:
        assert error.code


def bounded(script: Path) -> None:
    """Reads within a few seconds; the bound is wide because test machines are shared."""
    begin = time.monotonic()
    answered(script)
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(HOSTILE[name], encoding="utf-8")
    bounded(script)


@pytest.mark.parametrize("name", ["doubling", "giant word", "giant pattern", "brace expansion", "deep braces"])
def test_memory_stays_bounded(name: str, tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(HOSTILE[name], encoding="utf-8")
    tracemalloc.start()
    try:
        answered(script)
        assert tracemalloc.get_traced_memory()[1] < 200 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_mutual_sourcing(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_text("source b.sh\nsource b.sh\ntorchrun t.py\n", encoding="utf-8")
    (tmp_path / "b.sh").write_text("source a.sh\nsource a.sh\n", encoding="utf-8")
    bounded(tmp_path / "a.sh")


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(SEEDS),
    st.integers(0, 10_000),
    st.sampled_from(["cut", "drop", "twice", "byte", "swap"]),
    st.binary(max_size=4),
)
def test_mutated_scripts(
    tmp_path_factory: pytest.TempPathFactory, seed: str, where: int, how: str, bytes_: bytes
) -> None:
    data = seed.encode("utf-8")
    at = where % (len(data) + 1)
    data = {
        "cut": data[:at],
        "drop": data[:at] + data[at + 3 :],
        "twice": data[:at] + data[max(0, at - 12) :],
        "byte": data[:at] + bytes_ + data[at:],
        "swap": data[at:] + data[:at],
    }[how]
    script = tmp_path_factory.mktemp("mutated") / "run.sh"
    script.write_bytes(data)
    try:
        plan = read_launch(script)
    except CodedError as error:
        assert error.code.startswith(("script_", "config_"))
    else:
        assert plan.reason.code


BAD_INPUT = {
    "no_script": lambda folder: folder / "absent.sh",
    "script_is_directory": lambda folder: folder,
    "script_empty": lambda folder: _write(folder, b" \n\n"),
    "script_binary": lambda folder: _write(folder, b"\x7fELF\0\0\0"),
    "script_too_large": lambda folder: _write(folder, b"#\n" * 3_000_000),
}


def _write(folder: Path, data: bytes) -> Path:
    (folder / "x.sh").write_bytes(data)
    return folder / "x.sh"


@pytest.mark.parametrize("code", BAD_INPUT)
def test_bad_input_is_coded(code: str, tmp_path: Path) -> None:
    with pytest.raises(CodedError) as caught:
        read_launch(BAD_INPUT[code](tmp_path))
    assert caught.value.code == code
    assert str(tmp_path) in str(caught.value.found)


def test_not_utf8_is_read_and_told(tmp_path: Path) -> None:
    script = _write(tmp_path, "# 中文\n".encode("gbk") + b"torchrun --nproc_per_node 2 t.py\n")
    plan = read_launch(script)
    assert [note.params["line"] for note in plan.notes if note.code == "script_not_utf8"] == [1]
    assert plan.call is not None and plan.nproc_per_node == 2


def test_a_malformed_configuration_tells_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "pretrain_vlm.py").write_text("from mindspeed_mm.training import pretrain\n", encoding="utf-8")
    (tmp_path / "t.json").write_text('{\n "profile": {,}\n}\n', encoding="utf-8")
    script = _write(tmp_path, b"torchrun pretrain_vlm.py --mm-tool t.json --train-iters 5\n")
    with pytest.raises(CodedError) as caught:
        read_launch(script)
    assert caught.value.code == "config_malformed"
    assert (caught.value.params["line"], caught.value.params["column"]) == (2, 14)


def test_reading_touches_nothing(tmp_path: Path) -> None:
    script = _write(
        tmp_path, b"touch made; mkdir d; echo x > out; cat > gen.yaml <<E\na: 1\nE\nX=$(touch sub)\ntorchrun t.py\n"
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    read_launch(script)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
