"""Generated programs, read and run: what the evaluator says the launcher gets is what real bash passes, or it says it does
not know."""

import subprocess
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.launch_script.read import evaluate

NAMES = ["A", "B", "C"]
WORD = st.text(alphabet="abc/.-_=09 ", min_size=0, max_size=6)
NAME = st.sampled_from(NAMES)


@st.composite
def expansion(draw: st.DrawFn) -> str:
    name, word = draw(NAME), draw(st.text(alphabet="abc/.09", min_size=1, max_size=4))
    form = draw(
        st.sampled_from(
            [
                "${n}",
                "${n:-w}",
                "${n:+w}",
                "${n-w}",
                "${n%w}",
                "${n%%w*}",
                "${n#w}",
                "${n##*w}",
                "${n/a/w}",
                "${n//a/w}",
                "${#n}",
                "${n:1}",
                "${n:0:2}",
                "$n",
            ]
        )
    )
    return form.replace("w", word.replace("/", "x") if "/" in form else word).replace("n", name)


@st.composite
def right_side(draw: st.DrawFn) -> str:
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["plain", "double", "single", "expansion", "arithmetic", "command"]))
        if kind == "plain":
            parts.append(draw(st.text(alphabet="abc/._09", min_size=1, max_size=5)))
        elif kind == "double":
            parts.append('"' + draw(WORD) + draw(st.sampled_from(["", "$A", "${B}", " $C"])) + draw(WORD) + '"')
        elif kind == "single":
            parts.append("'" + draw(WORD) + "'")
        elif kind == "expansion":
            parts.append(draw(expansion()))
        elif kind == "arithmetic":
            parts.append(
                f"$(({draw(st.integers(0, 9))}{draw(st.sampled_from(['+', '*', '-']))}{draw(st.integers(1, 9))}))"
            )
        else:
            parts.append(
                draw(st.sampled_from(['$(echo "$A")', "`echo b`", "$(basename /x/y.sh .sh)", '$(dirname "/p/$A")']))
            )
    return "".join(parts)


@st.composite
def statement(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["assign", "assign", "append", "if", "array", "export", "for", "function"]))
    name = draw(NAME)
    if kind == "assign":
        return f"{name}={draw(right_side())}"
    if kind == "append":
        return f"{name}+={draw(right_side())}"
    if kind == "export":
        return f"export {name}={draw(right_side())}"
    if kind == "array":
        return f'L=({draw(right_side())} "{draw(WORD)}"); {name}="${{L[{draw(st.integers(0, 2))}]}}"'
    if kind == "for":
        return f'for i in {draw(st.sampled_from(["1 2", "a", "x y z"]))}; do {name}="${name}$i"; done'
    if kind == "function":
        return f"f() {{ local q=$1; {name}=$q{draw(st.sampled_from(['', 'z']))}; }}; f {draw(st.text(alphabet='abc', min_size=1, max_size=3))}"
    test = draw(st.sampled_from(['[ -z "$A" ]', "[[ $B == a* ]]", '[ "$A" = "$B" ]', "[[ -n $C && -n $A ]]"]))
    return f"if {test}; then {name}={draw(right_side())}; else {draw(NAME)}={draw(right_side())}; fi"


def launched_by_bash(script: Path, folder: Path) -> list[str] | None:
    record = folder / "record"
    record.unlink(missing_ok=True)
    standin = folder / "torchrun"
    if not standin.exists():
        standin.write_text('#!/bin/bash\nif [ $# -gt 0 ]; then printf "%s\\0" "$@"; fi > "$RECORD"\n', encoding="utf-8")
        standin.chmod(0o755)
    subprocess.run(
        ["bash", str(script)],
        cwd=folder,
        env={"PATH": f"{folder}:/usr/bin:/bin", "RECORD": str(record)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=10,
        check=False,
    )
    return record.read_text(encoding="utf-8").split("\0")[:-1] if record.exists() else None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(statement(), min_size=1, max_size=6),
    st.sampled_from(["$A $B $C", "0`echo b`$A $B`echo c`1", '"$A" "$B" $C', '${A} "x$B" $C', '"${A:-d}" $B']),
)
def test_equal_or_honestly_unknown(program: list[str], arguments: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "run.sh"
        script.write_text("\n".join([*program, f"torchrun {arguments}"]) + "\n", encoding="utf-8")
        record, _ = evaluate(script, script.read_bytes(), folder, (), {"PATH": "/usr/bin:/bin"})
        real = launched_by_bash(script, folder)
        assert len(record.calls) == 1
        words = record.calls[0].words
        if all(word.known for word in words):
            assert [word.text for word in words[1:]] == real
        else:
            assert record.reasons


@settings(max_examples=100, deadline=None)
@given(st.lists(statement(), min_size=1, max_size=6))
def test_positions_spell_what_they_claim(program: list[str]) -> None:
    """Every piece with a position stands in the file at exactly those bytes."""
    with tempfile.TemporaryDirectory() as name:
        script = Path(name) / "run.sh"
        script.write_text("\n".join([*program, 'torchrun $A "$B" ${C:-x}']) + "\n", encoding="utf-8")
        data = script.read_bytes()
        record, _ = evaluate(script, data, Path(name), (), {})
        for word in record.calls[0].words:
            for piece in word.pieces:
                if piece.span:
                    assert data[piece.span.start : piece.span.end] == piece.text.encode()
                for binding in piece.bindings:
                    if binding.assignment and binding.value:
                        assert data[binding.assignment.start : binding.value.start].endswith(b"=")
