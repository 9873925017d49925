"""Small programs in bash's own idioms, read and run: what reading claims to know is what real bash passes."""

import os
import subprocess
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.launch_script.read import evaluate

HOME = {"PATH": "/usr/bin:/bin", "HOME": "/root"}
KNOWN = [
    "eval \"$(printf 'K=%s' v | cat)\"; torchrun $K",
    'declare "$(echo K | cat)=v"; torchrun $K',
    'eval "$(conda shell.bash hook)"; torchrun "x$K"',
    'N=K; declare "$N=v"; torchrun $K',
    'N=K; export "$N=v"; torchrun $K',
    "export $(echo K=v); torchrun $K",
    "for i in $(seq 1 3); do X=$X$i; done; torchrun $X",
    "false && torchrun a",
    '[ -n "${X+x}" ] && torchrun set',
    "torchrun $(seq 3) $(seq 5 -2 1) $(seq -s, 0 7) x$(seq 3 1)",
    "export D=$(seq -s , 0 3); torchrun $D",
    'X=a; unset X; torchrun "${X-d}"',
    'X=a; if [ -n "$NAME_OF_NOBODY" ] || [ "$RANDOM" -gt 9 ]; then unset X; else unset X; fi; torchrun "${X-d}"',
    "X=1; f(){ X=2; }; f; torchrun $X",
    "X=1; (X=2); torchrun $X",
    "X=1; echo a | while read l; do X=2; done; torchrun $X",
    "X=1; { X=2; }; torchrun $X",
    "X=1; X=2 true; torchrun $X",
    "X=1; X=2 f; torchrun $X",
    'export X=a Y=$X; torchrun "$Y"',
    "declare X=a; torchrun $X",
    "readonly X=a; torchrun $X",
    "local_f(){ local X=in; torchrun $X; }; X=out; local_f; torchrun $X",
    "f(){ declare -g X=g; }; X=o; f; torchrun $X",
    "X=abc; torchrun ${X^^} ${X:1:1} ${X/b/z} ${#X}",
    "X=a.b.c; torchrun ${X%%.*} ${X##*.} ${X%.*} ${X#*.}",
    'X="a b"; Y=($X); torchrun ${#Y[@]}',
    "X=5; torchrun $((X*2)) $(( X % 3 )) $((2**X))",
    "X=010; torchrun $((X+1))",
    "case abc in a*) X=1;; *) X=2;; esac; torchrun $X",
    "X=3; while [ $X -gt 0 ]; do X=$((X-1)); done; torchrun $X",
    "X=3; until [ $X -le 0 ]; do ((X--)); done; torchrun $X",
    "for i in {1..3}; do X=$X$i; done; torchrun $X",
    "torchrun {a,b}c",
    "torchrun x{1..3}",
    'set -- a b c; shift; torchrun "$@" $# $1',
    'set -e; torchrun "$@"',
    'set -- ; torchrun x"$@"',
    "X=$((1>0 ? 5 : 6)); torchrun $X",
    'X=a; [[ $X == "a" && -z $Y ]] && Z=1 || Z=2; torchrun $Z',
    'if ! [ -f /nonexist ]; then X=1; fi; torchrun "$X"',
    "X=${HOME:?}; torchrun $X",
    ": ${X:=def}; torchrun $X",
    ': "${X:=a b}"; torchrun $X',
    "X='a;b'; torchrun $X",
    'X="a\\$b"; torchrun "$X"',
    "X=$'a\\tb'; torchrun \"$X\"",
    "torchrun a\\ b",
    'torchrun "a\nb"',
    "X=~; torchrun $X",
    'X="~"; torchrun $X',
    "torchrun ~/a",
    "X=*.nomatch; torchrun $X",
    "torchrun *.nomatch",
    "alias t=torchrun; torchrun a",
    'eval "X=5"; torchrun $X',
    "eval 'torchrun $HOME'",
    "exec torchrun a",
    "command torchrun a",
    "env A=1 torchrun a",
    "A=1 torchrun $A",
    "A=1; A=2 torchrun $A",
    "time torchrun a",
    "nohup torchrun a",
    "timeout 5 torchrun a",
    "! torchrun a",
    "torchrun a & wait",
    "(torchrun a)",
    "{ torchrun a; }",
    "f() ( torchrun $1 ); f b",
    "function g { torchrun $1; }; g c",
    "if true; then torchrun a; else torchrun b; fi",
    "false || torchrun a",
    "[ 1 -eq 1 ] && torchrun a",
    "trap 'echo' EXIT; torchrun a",
    "X=a; X+=b; torchrun $X",
    "X=1; X+=1; torchrun $X",
    "typeset X=1; torchrun $X",
    'let "X = 3 + 4"; torchrun $X',
    "X=$[3+4]; torchrun $X",
    "X=`echo a`; torchrun $X",
    "X=$(( $(echo 3) + 1 )); torchrun $X",
    "X=a Y=b; torchrun $X$Y",
    "X=a;Y=b;torchrun $X$Y",
    "X=\"a\"'b'c; torchrun $X",
    'X=; torchrun "$X" $X',
    'torchrun --a="$X" --b=${Y:-1}',
    "torchrun ${X:+--x $X} z",
    'X=1; torchrun ${X:+--x $X} "${X:+--y $X}"',
    "select x in a b; do break; done < /dev/null; torchrun a",
    "X=10; X=$((X>>1)); torchrun $X",
    "for i in 1 2; do torchrun $i; done",
    "for i in 1 2 3; do [ $i = 2 ] && break; X=$i; done; torchrun $X",
    "for i in 1 2 3; do [ $i = 2 ] && continue; X=$X$i; done; torchrun $X",
    'f(){ return 1; }; f && X=1; torchrun "$X"',
    "f(){ echo hi; }; X=$(f); torchrun $X",
    'f(){ local r=$1; echo "$((r*2))"; }; torchrun $(f 4)',
    'X=(a b); torchrun "${X[*]}" "${X[@]}"',
    'X=(a b); Y=("${X[@]}" c); torchrun "${Y[@]: -1}"',
    "X=a; Y=X; torchrun ${!Y}",
    "X_1=a; N=1; V=X_$N; torchrun ${!V}",
    "[ -z ${X+x} ] && torchrun unset",
    "test -d / && torchrun dir",
    "[[ -v HOME ]] && torchrun v",
    "source /dev/null; torchrun a",
    "pushd / >/dev/null; torchrun $PWD; popd",
    "cd /; torchrun $PWD $OLDPWD",
    "cd /usr && cd ..; torchrun $PWD",
    "X=$(cd /usr && pwd); torchrun $X $PWD",
    "X=$(dirname $(dirname /a/b/c)); torchrun $X",
    "X=$(realpath /usr/../usr); torchrun $X",
    "X=${0##*/}; torchrun $X",
    "torchrun ${BASH_SOURCE[0]##*/}",
    "torchrun \\$X \"\\$X\" '$X'",
    'torchrun "a"$\'\\n\'"b"',
    "torchrun $'\\x41\\u0042'",
    "torchrun a#b #c",
    'torchrun "${X:-"q r"}"',
    "torchrun \"${X:-'q r'}\" ${X:-'q r'}",
    "torchrun ${X:-$(echo d e)}",
    "coproc cat; torchrun a",
    "wait; torchrun a",
    "for i in 1 2; do for j in a b; do [ $j = b ] && break; X=$X$i$j; done; done; torchrun $X",
    "for i in 1 2 3; do [ -f /none ] && break; X=$i; done; torchrun $X",
    "for i in 1 2 3; do $UNSET_CMD true && break; X=$i; done; torchrun $X",
    "while true; do N=$((N+1)); [ $N -ge 3 ] && break; done; torchrun $N",
    "N=0; while :; do ((N++)); if ((N == 4)); then break; fi; done; torchrun $N",
    "for f in a b; do case $f in b) break;; esac; X=$f; done; torchrun $X",
    "X={a,b}; torchrun $X",
    "torchrun '{a,b}' \"{1..2}\"",
    "torchrun {01..03}",
    "torchrun {} {x} a{,b}",
    'f() { for i in 1 2; do return; done; X=no; }; f; torchrun "x$X"',
    'local_test() { local a=1 b=$a; torchrun "b$b"; }; a=0; local_test',
    'OLDIFS=$IFS; IFS=,; set -- $(echo 1,2); IFS=$OLDIFS; torchrun "$@" $#',
    'X=${1:-a}; torchrun ${X:+--load "$X y"}',
    "R=; torchrun ${R:+--load $R} z",
    "IFS=:; X=a:b; for p in $X; do Y=$Y-$p; done; unset IFS; torchrun $Y",
    "torchrun ab\\\ncd e",
    "torchrun a \\ \n",
    'L=(a \\ \n b \\\t\n c); torchrun ${#L[@]} "${L[@]}" b\\ c \\ \n',
    "A=1; torchrun --x=\\\n$A \"y\\\nz\" 's\\\nt'",
    "X=a\\\nb; torchrun a\\\n\\\n$X \\\n--z",
    "export X=a\\\nb Y=c; L=(a\\\nb c); torch\\\nrun $X$Y ${#L[@]} $(echo a\\\nb)",
]
"""Reading knows all of it."""
UNKNOWN = [
    "torchrun a \\ b",
    "torchrun $HO\\\nME",
    "torchrun ${HO\\\nME}",
    'torchrun "x $\\\nHOME"',
    'torchrun "x ${HO\\\nME} y"',
    "eval \"$(printf 'K=%s' v | tr a b)\"; torchrun $K",
    'declare "$(echo K | tr a b)=v"; torchrun $K',
    "printf 'K=v\\n' > e; export $(cat e); torchrun $K",
    "printf 'K=v\\n' > e; export $(grep -v '^#' e | xargs); torchrun ${K:-d}",
    'printf \'K=v\\n\' > e; while IFS== read -r k v; do export "$k=$v"; done < e; torchrun "$K"',
    "printf 'K=v\\n' > e; . ./$(ls e); torchrun $K",
    "printf 'K=v\\n' > e; . ./e; torchrun $K",
    'read -r "$(echo K | cat)" <<< v; torchrun $K',
    'torchrun "$(cat <<EOF\nhello\nEOF\n)"',
    "X=$(cat <<'EOF'\na b\nEOF\n); torchrun $X",
    'read X <<< "v"; torchrun $X',
    'read -r A B <<< "1 2"; torchrun $B',
    'mapfile -t L <<< "a"; torchrun ${L[0]}',
    'getopts "a:" opt; torchrun $opt',
    'while getopts "n:" o; do N=$OPTARG; done; torchrun "n$N"',
    '[[ abc =~ ^a(.*)$ ]] && X=${BASH_REMATCH[1]}; torchrun "$X"',
    "declare -i N=1; N+=1; torchrun $N",
    "declare -i N; N=2+3; torchrun $N",
    "X=$(basename $PWD | wc -c); torchrun a$X",
    "X=$(echo \"a b\" | awk '{print $2}'); torchrun $X",
    "X=$(echo abc | cut -c1); torchrun $X",
    "X=$(echo a,b | tr , ' '); torchrun $X",
    "X=$(printf '%02d' 5); torchrun $X",
    "X=$(echo a | sed 's/a/b/'); torchrun $X",
    "X=$(expr 1 + 2); torchrun $X",
    "for ((i=0; i<2; i++)); do torchrun $i; done",
    "echo a > /dev/null; torchrun $?",
    "for i in 1 2; do for j in a b; do [ $j = b ] && break 2; X=$X$i$j; done; done; torchrun $X",
    'for i in 1 2 3; do python3 -c pass && break; X=$i; done; torchrun "got $X"',
    "for i in 1 2 3; do if python3 -c 'raise SystemExit(1)'; then X=$i; break; fi; done; torchrun \"got $X\"",
    "torchrun {5..1..2} {a..c}",
    "torchrun {a,{b,c}}",
    "A=1; torchrun {$A,2}",
    'torchrun --o={\\"a\\":1,\\"b\\":2}',
    "HOSTS=a,b; IFS=',' read -ra H <<< \"$HOSTS\"; torchrun ${H[0]} ${#H[@]}",
    'torchrun "${HOSTNAME}"',
    "torchrun $UID",
]
"""Run-time facts, other programs, and what is deliberately not followed: said to be unknown."""


def by_bash(script: Path) -> list[list[str]]:
    folder = script.parent
    standin, record = folder / "torchrun", folder / "record"
    standin.write_text('#!/bin/bash\nprintf \'%s\\0\' "$#" "$@" >> "$RECORD"\n', encoding="utf-8")
    standin.chmod(0o755)
    record.touch()
    environment = {**HOME, "PATH": f"{folder}{os.pathsep}/usr/bin:/bin", "RECORD": str(record)}
    subprocess.run(
        ["bash", str(script)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    words = record.read_text(encoding="utf-8").split("\0")[:-1]
    launches = []
    while words:
        count = int(words.pop(0))
        launches.append(words[:count])
        del words[:count]
    return launches


def read(text: str, folder: Path) -> tuple[Path, list[list[str | None]], dict[str, object]]:
    script = folder / "run.sh"
    script.write_text(text + "\n", encoding="utf-8")
    record, _ = evaluate(script, script.read_bytes(), folder, (), HOME)
    return (
        script,
        [[word.text if word.known else None for word in call.words[1:]] for call in record.calls],
        dict(record.reasons),
    )


@pytest.mark.parametrize("program", KNOWN)
def test_what_is_known_is_true(program: str, tmp_path: Path) -> None:
    script, calls, _ = read(program, tmp_path)
    assert calls == by_bash(script)


@pytest.mark.parametrize("program", UNKNOWN)
def test_what_is_not_followed_is_said_to_be_unknown(program: str, tmp_path: Path) -> None:
    script, calls, reasons = read(program, tmp_path)
    assert reasons and any(None in words for words in calls)
    real = by_bash(script)
    for words, passed in zip(calls, real, strict=False):
        if None not in words:
            assert words == passed
