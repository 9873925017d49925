"""Arrays, read and run: options are often gathered in one, element by element."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.launch_script.read import evaluate

STATEMENTS = [
    "L=()",
    "L=(a 'b c')",
    "L=($W)",
    'L=("$W" x)',
    "L=([2]=q [0]=p)",
    "L+=()",
    "L+=(d e)",
    'L+=("$W")',
    "L+=tail",
    "L=plain",
    "L[1]=m",
    "L[4]=n",
    "L[0]+=z",
    "L[-1]=last",
    "L[${#L[@]}]=next",
    "L[K]=k",
    "L[$K+1]=k1",
    "L[$(date +%s)]=late",
    "unset 'L[1]'",
    "unset L[0]",
    "unset L",
    "declare -a L",
    "declare -a L=(v w)",
    "declare -A M",
    "declare -A M=([one]=1 [two]='2 2')",
    "M[one]=x",
    "M[two]+=y",
    "M=()",
    'L=("${L[@]}" after)',
    'L=(before "${L[@]}")',
    'L=("${L[@]:1}")',
    "L=($(echo r s))",
    "IFS=, read -r -a L <<< 'f,g h,i'",
    'read -ra L <<< "$W"',
    "readarray -t L < /etc/hostname",
    "K=2",
    "f() { local L=(in); L+=(side); }; f",
    "f() { local -a L; L+=(only); }; f",
    "f() { L+=(by f); }; f",
    'for x in "${L[@]}"; do N="$N<$x>"; done',
    'set -- "${L[@]}"',
    'W="${L[*]}"',
    'W="${L[@]}"',
    "IFS=,",
    "IFS=",
    "IFS=$'\\n'",
    "O=$IFS; IFS=:; IFS=$O",
    "W=f,,g:h",
    "W=' ,x, y '",
    "((K++))",
    "(( K = 3 ))",
    "let K+=1",
    "for ((i = 0; i < 2; i++)); do W=$W$i; done",
    "printf -v W '%s-' a",
    "((K > 0)) && L+=(true)",
    "L+=($((K += 2)))",
]
EMPTY_ELEMENTS = ["L=('')", "L=('' '')", "L=(''); L+=('' x)"]
"""Alone: under another IFS, bash joins unquoted empty elements in a way of its own."""
USES = [
    '"${L[@]}"',
    "${L[@]}",
    '"${L[*]}"',
    "${L[*]}",
    "${#L[@]}",
    '"${L[0]}"',
    '"${L[1]}"',
    '"${L[-1]}"',
    '"$L"',
    '"${L[@]:1}"',
    '"${L[@]:0:2}"',
    '"${L[@]: -1}"',
    '"${!L[@]}"',
    '"${L[@]/#/x}"',
    '"${L[@]%b*}"',
    '"${L[@]:-none}"',
    '"${L[@]:+some}"',
    '${L[@]+"${L[@]}"}',
    '"${L:-none}"',
    '"${#L}"',
    '"${M[one]}"',
    '"${M[two]}"',
    "${#M[@]}",
    '"${M[@]}"',
    '"$N"',
    '"$@"',
    "$#",
    '"pre${L[@]}post"',
    '"${L[K]}"',
    '"${L[$((K-1))]}"',
    "$W",
    '"$W"',
    "$K",
    "x${W}y",
    '"${@:2}"',
    '"$*"',
    '"${*:-none}"',
]


STANDIN = """#!/bin/bash
printf '%s\\0' "$#" "$@" >> "$RECORD"
"""


def launched_by_bash(script: Path) -> list[list[str]]:
    """What each launch of the script gets from real bash."""
    folder = script.parent
    (folder / "torchrun").write_text(STANDIN, encoding="utf-8")
    (folder / "torchrun").chmod(0o755)
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "RECORD": str(folder / "record")}
    subprocess.run(
        ["bash", str(script)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    words = (folder / "record").read_text(encoding="utf-8").split("\0")[:-1]
    launches = []
    while words:
        count = int(words[0])
        launches.append(words[1 : count + 1])
        words = words[count + 1 :]
    return launches


def differing(program: list[str]) -> list[str]:
    """The uses of which reading claims to know what bash does not do."""
    with tempfile.TemporaryDirectory() as name:
        script = Path(name) / "run.sh"
        launches = [f"torchrun {number} {use}" for number, use in enumerate(USES)]
        script.write_text("\n".join(["W='u v'", "K=1", *program, *launches]) + "\n", encoding="utf-8")
        record, _ = evaluate(script, script.read_bytes(), script.parent, (), {"PATH": "/usr/bin:/bin"})
        real = {int(words[0]): words[1:] for words in launched_by_bash(script)}
    assert len(record.calls) == len(USES)
    wrong = []
    for use, call in zip(USES, record.calls, strict=True):
        number = int(call.words[1].text)
        if not all(word.known for word in call.words):
            assert record.reasons
        elif (
            number in real and [word.text for word in call.words[2:]] != real[number]
        ):  # bash leaves out bad subscripts
            wrong.append(f"{use}: {[word.text for word in call.words[2:]]} is {real[number]}")
    return wrong


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(STATEMENTS), min_size=2, max_size=6))
@example(["L=()", "L+=(d e)"])
@example(["L=(a 'b c')", "IFS=,"])
def test_equal_or_honestly_unknown(program: list[str]) -> None:
    assert differing(program) == []


@pytest.mark.parametrize("statement", [*STATEMENTS, *EMPTY_ELEMENTS])
def test_each_alone(statement: str) -> None:
    assert differing([statement]) == []


def test_what_is_known_is_not_given_away() -> None:
    """Gathering options is read, not shrugged at."""
    text = 'A=()\nA+=(--nnodes 1)\n[ -n "$X" ] || A+=("--mm-tool" "a b")\ntorchrun "${A[@]}" "$@" t.py "${A[@]:2}"\n'
    record, _ = evaluate(Path("/x/run.sh"), text.encode(), Path("/x"), (), {})
    (call,) = record.calls
    assert [word.text for word in call.words[1:]] == ["--nnodes", "1", "--mm-tool", "a b", "t.py", "--mm-tool", "a b"]
    assert all(word.known for word in call.words)
