"""What a script does beside its launch: other people's files and processes, and its own."""

from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.launch_script.read import evaluate

JOBS = 'python watch.py & MON=$!\nP=()\nsleep 9 & P+=($!)\nsleep 8 & P+=("$!")\ntorchrun t.py\n'


def changes(text: str) -> list[str]:
    record, _ = evaluate(Path("/x/run.sh"), text.encode(), Path("/x"), (), {})
    return [change.command for change in record.world if change.kind == "kills"]


@pytest.mark.parametrize(
    "command",
    [
        "kill $MON",
        'kill -9 "$MON" 2>/dev/null || true',
        "kill -s TERM ${MON}",
        "kill -TERM -- -$MON",
        "kill -INT -$MON",
        "kill %1 %2",
        "kill $(jobs -p)",
        "kill `jobs -pr`",
        'kill "${P[@]}" $MON',
        'for p in "${P[@]}"; do kill $p; done',
        "kill -0 $MON && kill $MON",
        "pkill -P $$",
        "pkill -TERM -P $$ python",
        "stop() { kill $1; }; stop $MON",
        "kill -- -$$",
    ],
)
def test_its_own_jobs_are_its_own(command: str) -> None:
    assert changes(JOBS + command + "\n") == []


@pytest.mark.parametrize(
    "command",
    [
        "kill 1234",
        "kill -9 -1",
        "kill $MON 1234",
        "kill $(cat /run/train.pid)",
        "kill -9 $(ps -ef | grep python | awk '{print $2}')",
        "kill $OTHER_PID",
        "kill $PPID",
        "pkill -9 python",
        "pkill -P 1",
        "killall python3",
        "kill",
    ],
)
def test_any_other_process_is_not(command: str) -> None:
    assert len(changes(JOBS + command + "\n")) == 1
