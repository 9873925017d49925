"""What loops that are left early and arithmetic that sets variables leave behind: as bash, or not known."""

import subprocess
from pathlib import Path

import pytest

from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout

LAUNCH = (
    "torchrun --nproc_per_node 2 --nnodes 2 --node_rank $R pretrain_vlm.py --mm-tool ./mindspeed_mm/tools/tools.json\n"
)
WHO = '"$(hostname)" = nobody-has-this-name'


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "mm")


def read(checkout: Checkout, text: str) -> str | None:
    """The value that reaches the launcher, None where it is told as not known."""
    script = checkout.scripts["tools_json"].parent / "counting.sh"
    script.write_text("#!/bin/bash\n" + text + LAUNCH, encoding="utf-8")
    call = read_launch(script).call
    assert call is not None
    word = call.options["node_rank"]
    assert word is not None
    return word.text if word.known else None


@pytest.mark.parametrize(
    "text",
    [
        "R=0\nfor h in a b c; do ((R++)); done\n",
        "R=5; ((R -= 2)); ((--R))\n",
        'let "R = 2 * (1 + 2)"\n',
        'printf -v R "%d" 12\n',
        "for d in 1 2 3; do if [ $d = 2 ]; then R=$d; break; fi; done\n",
        "R=0\nfor d in 1 2 3; do [ $d = 2 ] && continue; R=$((R + d)); done\n",
        "R=0; for i in 1 2; do for j in 1 2 3; do [ $j = 2 ] && break; ((R++)); done; done\n",
        "R=0; while true; do ((R += 1)); if [ $R -ge 3 ]; then break; fi; done\n",
        "R=1; ((R == 1)) && R=4; ((R > 9)) || R=6\n",
        "break 2> /dev/null\nR=8\n",
    ],
)
def test_what_can_be_known_is_bashs_own(checkout: Checkout, text: str) -> None:
    done = subprocess.run(["bash", "-c", text + 'echo "$R"'], capture_output=True, text=True, timeout=20, check=False)
    assert read(checkout, text) == done.stdout.strip()


@pytest.mark.parametrize(
    "text",
    [
        f"R=0\nfor h in a b; do\n  if [ {WHO} ]; then break; fi\n  ((R++))\ndone\n",
        f"R=0\nfor h in a b; do\n  [ {WHO} ] && break\n  R=$((R + 1))\ndone\n",
        f"R=0\nfor h in a b; do [ {WHO} ] && continue; R=7; done\n",
        f"R=0\nif [ {WHO} ]; then ((R++)); fi\n",
        f"R=0\nif [ {WHO} ]; then let R+=3; fi\n",
        f"R=0\nif [ {WHO} ]; then printf -v R 5; fi\n",
        "R=0\nwhile read -r line; do ((R++)); done < /nowhere/hosts\n",
        "R=3; ((R--, R--))\n",
    ],
)
def test_what_depends_on_the_host_is_told_as_not_known(checkout: Checkout, text: str) -> None:
    assert read(checkout, text) is None
