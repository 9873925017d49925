"""File names that are no UTF-8 (GBK ones are common) reach Python as lone surrogates: no answer may break on them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from mindspeed_mm_train_profiler.server import build_server
from mindspeed_mm_train_profiler.simulator.sample import make_checkout
from mindspeed_mm_train_profiler.tools.common import printable, visible


@given(
    st.recursive(
        st.text(st.characters()) | st.none() | st.integers(),
        lambda x: st.lists(x) | st.dictionaries(st.text(st.characters()), x),
    )
)
def test_printable_text_can_be_encoded_and_other_text_stays(value: object) -> None:
    str(printable(value)).encode("utf-8", "strict")
    if "\\ud" not in ascii(value):
        assert printable(value) == value


def gbk_script(folder: Path) -> str:
    checkout = make_checkout(folder / "MindSpeed-MM", nproc=1)
    script = checkout.scripts["fsdp2"]
    target = os.fsdecode(os.fsencode(script.parent) + b"/" + "训练".encode("gbk") + b".sh")
    shutil.copy2(script, target)
    return target


async def test_a_gbk_file_name_over_the_protocol(tmp_path: Path) -> None:
    script = gbk_script(tmp_path)
    async with Client(build_server()) as client:
        missing = await client.call_tool("detect_engine", {"script": printable(script)})
    assert missing.is_error  # such a name cannot be sent; the answer is a coded failure


def test_a_gbk_file_name_in_the_terminal(tmp_path: Path) -> None:
    script = gbk_script(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "mindspeed_mm_train_profiler.cli", "detect", script, "--json"],
        capture_output=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr[-1000:]
    assert b"\\udc" in done.stdout and b"Traceback" not in done.stderr


@given(st.text(st.characters()))
def test_text_for_readers_controls_nothing(text: str) -> None:
    shown = visible(text)
    assert all(character in "\n\t" or character.isprintable() or ord(character) > 0x9F for character in shown)
    assert "\x1b" not in shown and "\u202e" not in shown
    assert visible(shown) == shown
