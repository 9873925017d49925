"""Builds over the sample checkout: what is written, what is proven, what is refused, what stays behind."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from mindspeed_mm_train_profiler import profile_config
from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_config import store
from mindspeed_mm_train_profiler.simulator.sample import Checkout, make_checkout

Snapshot = dict[Path, tuple[str, int, int]]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "mm", "26.1.0")


def snapshot(folder: Path) -> Snapshot:
    return {
        path: (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns, path.stat().st_mode)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def build(script: Path, *, env: dict[str, str] | None = None, **options: Any) -> dict[str, Any]:
    options.setdefault("acknowledge", ["missing_paths"])
    plan = read_launch(script, env=env)
    return profile_config.build(profile_config.prepare(plan, ProfileOptions(**options)))


def refused(script: Path, **options: Any) -> CodedError:
    with pytest.raises(CodedError) as error:
        build(script, **options)
    return error.value


def rewritten(checkout: Checkout, change: Callable[[str], str], name: str = "tools_json") -> Path:
    """A script of the sample, changed in place (before anything is read)."""
    path = checkout.scripts[name]
    text = change(path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    return path


def copy_of(manifest: dict[str, Any], role: str) -> Path:
    return next(Path(copy["copy"]) for copy in manifest["copies"] if copy["role"] == role)


@pytest.mark.parametrize("chain", ["tools_json", "msrun", "yaml", "fsdp2"])
def test_a_chain_is_copied_proven_and_discarded(checkout: Checkout, chain: str) -> None:
    """SK-06, SK-24, SK-25, SK-26, SK-28."""
    before = snapshot(checkout.root)
    manifest = build(checkout.scripts[chain], start_step=4, end_step=6, train_iters=9, level="level2")
    after = snapshot(checkout.root)
    assert {path: after[path] for path in before} == before
    assert set(after) - set(before) == {Path(copy["copy"]) for copy in manifest["copies"]}
    plan = read_launch(copy_of(manifest, "script"))
    assert plan.current_profile is not None and plan.current_profile["enable"] is True
    assert plan.current_profile["ranks"] == [0]
    static = plan.current_profile["static_param"]
    assert (static["start_step"], static["end_step"], static["level"]) == (4, 6, "level2")
    assert Path(static["save_path"]) == Path(manifest["save_path"]) and Path(static["save_path"]).is_dir()
    assert plan.train_iters.value == 9
    assert [link.path for link in plan.chain] == [
        copy_of(manifest, link.role) for link in read_launch(checkout.scripts[chain]).chain
    ]
    assert manifest["expected"] == {"ranks": [0], "steps": [4, 5], "iterations": [5, 6], "sessions": 1}
    assert "${MM_PROFILER_RECORD-} " in copy_of(manifest, "script").read_text(encoding="utf-8")
    for copy in manifest["copies"]:
        assert Path(copy["copy"]).stat().st_mode == Path(copy["original"]).stat().st_mode
        assert Path(copy["copy"]).parent == Path(copy["original"]).parent
    assert profile_config.load_build(manifest["config_id"]) == json.loads(json.dumps(manifest))
    assert [found["config_id"] for found in profile_config.list_builds()] == [manifest["config_id"]]
    profile_config.discard(manifest["config_id"])
    assert snapshot(checkout.root) == before and not (checkout.root / "npu_profiling").exists()
    assert profile_config.list_builds() == []


def test_two_builds_in_one_second_do_not_meet(checkout: Checkout) -> None:
    first, second = (build(checkout.scripts["yaml"]) for _ in range(2))
    paths = [copy["copy"] for manifest in (first, second) for copy in manifest["copies"]]
    assert len(set(paths)) == len(paths)


def test_discard_keeps_what_was_changed_and_what_holds_data(checkout: Checkout) -> None:
    manifest = build(checkout.scripts["tools_json"])
    script = copy_of(manifest, "script")
    script.write_text("# mine now\n", encoding="utf-8")
    kept = Path(manifest["save_path"]) / "session_ascend_pt"
    kept.mkdir()
    found = profile_config.discard(manifest["config_id"])
    assert found["kept"] == [str(script)] and script.exists() and kept.is_dir()
    assert not copy_of(manifest, "tools_json").exists()


@pytest.mark.parametrize("config_id", ["", "../x", "build-1", "build-20260101-000000-abcdef"])
def test_unknown_builds(config_id: str) -> None:
    with pytest.raises(CodedError, match="build_unknown"):
        profile_config.discard(config_id)


MM_TOOL = 'MM_TOOL="./mindspeed_mm/tools/tools.json"'


def _shape_default(text: str) -> str:
    assert MM_TOOL in text
    return text.replace(MM_TOOL, "MM_TOOL=${MM_TOOL:-./mindspeed_mm/tools/tools.json}")


def _shape_conditional(text: str) -> str:
    return text.replace("--train-iters 5000", "--train-iters ${TRAIN_ITERS}").replace(
        MM_TOOL, MM_TOOL + '\nif [[ -z "${TRAIN_ITERS}" ]]; then TRAIN_ITERS=5000; fi'
    )


def _shape_inline_default(text: str) -> str:
    return text.replace("--train-iters 5000", "--train-iters ${TRAIN_ITERS:-5000}")


def _shape_shared(text: str) -> str:
    return text.replace(MM_TOOL, MM_TOOL + "\nN=5000").replace("--train-iters 5000", "--train-iters $N --seed $N")


def _shape_equals(text: str) -> str:
    return text.replace("--train-iters 5000", "--train-iters=5000")


def _shape_crlf_free_no_final_newline(text: str) -> str:
    return text.rstrip("\n")


SHAPES: dict[str, tuple[Callable[[str], str], dict[str, str]]] = {
    "path with a default": (_shape_default, {"MM_TOOL": "/somewhere/else.json"}),
    "iterations set where unset": (_shape_conditional, {"TRAIN_ITERS": "3"}),
    "iterations with a default": (_shape_inline_default, {"TRAIN_ITERS": "3"}),
    "a variable that another argument shares": (_shape_shared, {}),
    "option with an equals sign": (_shape_equals, {}),
    "no final newline": (_shape_crlf_free_no_final_newline, {}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_scripts(checkout: Checkout, shape: str) -> None:
    change, hostile = SHAPES[shape]
    script = rewritten(checkout, change)
    before = read_launch(script)
    assert before.train_iters.value == 5000 and before.call is not None
    manifest = build(script, train_iters=42)
    for env in ({}, hostile):
        plan = read_launch(copy_of(manifest, "script"), env=env)
        assert plan.train_iters.value == 42, env
        assert plan.config_path == copy_of(manifest, "tools_json"), env
    assert plan.call is not None
    old, new = ([word.text for word in call.words] for call in (before.call, plan.call))
    changed = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(changed) == 2, changed
    # bash agrees that the copy is a program
    assert subprocess.run(["bash", "-n", str(copy_of(manifest, "script"))], timeout=20).returncode == 0


def test_a_sourced_file_is_copied_and_the_line_re_pointed(checkout: Checkout) -> None:
    script = rewritten(checkout, lambda text: text.replace(MM_TOOL, 'source "$(dirname "$0")/env_vars.sh"'))
    sourced = script.with_name("env_vars.sh")
    sourced.write_text(MM_TOOL + "\n", encoding="utf-8")
    before = sourced.read_bytes()
    manifest = build(script)
    assert sourced.read_bytes() == before
    plan = read_launch(copy_of(manifest, "script"))
    assert plan.config_path == copy_of(manifest, "tools_json")
    assert copy_of(manifest, "sourced").name in copy_of(manifest, "script").read_text(encoding="utf-8")


def test_arguments_in_an_array(checkout: Checkout) -> None:
    script = rewritten(
        checkout,
        lambda text: text.replace(MM_TOOL, MM_TOOL + '\nMORE=(--train-iters 77 --mm-tool "$MM_TOOL")').replace(
            "torchrun ", "torchrun ", 1
        ),
    )
    text = script.read_text(encoding="utf-8")
    entry = next(line for line in text.splitlines() if "pretrain_vlm.py" in line and "torchrun" in line)
    script.write_text(text.replace(entry, entry.rstrip("\\ ") + ' "${MORE[@]}"\nexit 0'), encoding="utf-8")
    assert read_launch(script).train_iters.value == 77
    manifest = build(script, train_iters=21)
    assert read_launch(copy_of(manifest, "script")).train_iters.value == 21
    assert "--train-iters 21 --mm-tool" in copy_of(manifest, "script").read_text(encoding="utf-8")


REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "end before start": ("end_step_not_after_start", {"start_step": 5, "end_step": 5}),
    "all ranks": ("all_ranks_not_acknowledged", {"ranks": "all"}),
    "every rank by name": ("all_ranks_not_acknowledged", {"ranks": [0, 1]}),
    "rank outside": ("rank_outside_world", {"ranks": [0, 7]}),
    "no rank": ("ranks_empty", {"ranks": []}),
    "long window": ("long_window_not_acknowledged", {"start_step": 5, "end_step": 9}),
    "every step": ("every_step_not_acknowledged", {"start_step": 1, "end_step": 4, "train_iters": 4}),
    "too short a run": ("train_iters_too_small", {"train_iters": 11}),
    "missing paths": ("paths_missing", {"acknowledge": []}),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_write_nothing(checkout: Checkout, case: str, own_state: Path) -> None:
    """SK-21."""
    code, options = REFUSALS[case]
    script = rewritten(checkout, lambda text: text.replace(MM_TOOL, MM_TOOL + '\nLOAD_PATH="/not/there"'))
    if case == "missing paths":
        script = rewritten(checkout, lambda text: text.replace("--mm-tool", "--load /not/there --mm-tool"))
    before = snapshot(checkout.root)
    assert refused(script, **options).code == code
    assert snapshot(checkout.root) == before and not (own_state / "builds").exists()


def test_dynamic_on_fsdp2_is_refused_and_on_megatron_built(checkout: Checkout) -> None:
    """SK-42."""
    assert refused(checkout.scripts["fsdp2"], profile_type="dynamic").code == "dynamic_not_supported_fsdp2"
    manifest = build(checkout.scripts["tools_json"], profile_type="dynamic", ranks=[1])
    block = json.loads(copy_of(manifest, "tools_json").read_text(encoding="utf-8"))["profile"]
    watched = Path(block["dynamic_param"]["config_path"])
    assert block["profile_type"] == "dynamic" and block["ranks"] == [1]
    assert watched.is_dir() and not list(watched.iterdir()) and str(watched) == manifest["dynamic_config_path"]
    assert manifest["expected"]["sessions"] == 0 and manifest["window"] is None


def test_a_dynamic_path_must_be_an_unused_directory(checkout: Checkout, tmp_path: Path) -> None:
    """SK-42."""
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    script = checkout.scripts["tools_json"]
    options = {"profile_type": "dynamic"}
    assert refused(script, dynamic_config_path=str(file), **options).code == "dynamic_path_not_directory"
    used = tmp_path / "used"
    used.mkdir()
    (used / "profiler_config.json").write_text("{}", encoding="utf-8")
    assert refused(script, dynamic_config_path=str(used), **options).code == "dynamic_path_in_use"


def test_all_ranks_are_written_exactly(checkout: Checkout) -> None:
    manifest = build(checkout.scripts["fsdp2"], ranks="all", acknowledge=["all_ranks", "missing_paths"])
    block = yaml.safe_load(copy_of(manifest, "yaml").read_text(encoding="utf-8"))["tools"]["profile"]
    assert block["ranks"] == [-1] and manifest["expected"]["ranks"] == [0, 1]


def test_an_older_release_shifts_the_window_and_drops_its_unknown_key(tmp_path: Path) -> None:
    old = make_checkout(tmp_path / "mm", "2.1.0")
    manifest = build(old.scripts["tools_json"], analyse_flag=False)
    assert manifest["expected"]["iterations"] == [12, 13] and manifest["expected"]["steps"] == [11, 12]
    block = json.loads(copy_of(manifest, "tools_json").read_text(encoding="utf-8"))
    assert "analyse_flag" not in block["profile"]["static_param"]
    assert {"analyse_flag_not_known", "warmup_shifts_window"} <= {note["code"] for note in manifest["notes"]}
    assert refused(old.scripts["tools_json"], train_iters=12).params["needed"] == 13


def test_a_resumed_run_counts_on(checkout: Checkout, tmp_path: Path) -> None:
    load = tmp_path / "ckpt"
    load.mkdir()
    (load / "latest_checkpointed_iteration.txt").write_text("300\n", encoding="utf-8")
    script = rewritten(checkout, lambda text: text.replace("./ckpt/vlm", str(load)))
    error = refused(script, train_iters=100)
    assert error.code == "train_iters_too_small_resumed" and error.params["needed"] == 312
    assert build(script, train_iters=400)["expected"]["iterations"] == [311, 312]


def test_what_ends_or_disturbs_the_run_is_told(checkout: Checkout) -> None:
    script = rewritten(checkout, lambda text: text.replace("--mm-tool", "--exit-interval 11 --mm-tool"))
    assert refused(script).code == "exit_interval_too_early"
    rewritten(checkout, lambda text: text.replace("--exit-interval 11", "--eval-interval 11"))
    assert "interval_in_window" in {note["code"] for note in build(script)["notes"]}
    rewritten(checkout, lambda text: text.replace("--eval-interval 11", "--lr-warmup-iters 100"))
    assert refused(script).params["needed"] == 101


@pytest.mark.parametrize("spelling", ["--eval-interval 11", "--eval-interval=11", "--eval-interval $EVERY"])
def test_intervals_move_out_of_the_window_on_request(checkout: Checkout, spelling: str) -> None:
    script = rewritten(
        checkout,
        lambda text: text.replace("MM_ARGS=", "EVERY=11\nMM_ARGS=", 1).replace("--mm-tool", f"{spelling} --mm-tool"),
    )
    manifest = build(script, acknowledge=["missing_paths", "move_intervals"])
    (change,) = [change for change in manifest["changes"] if change["key"] == "--eval-interval"]
    assert change["before"] == 11 and change["after"] % 11
    plan = read_launch(copy_of(manifest, "script"))
    assert plan.call is not None
    words = " ".join(word.text for word in plan.call.entry_args)
    assert f"--eval-interval {change['after']}" in words or f"--eval-interval={change['after']}" in words
    assert "interval_moved" in {note["code"] for note in manifest["notes"]}


def test_intervals_in_a_yaml_move_in_its_copy(checkout: Checkout) -> None:
    script = checkout.scripts["fsdp2"]
    config = read_launch(script).chain[1].path
    text = config.read_text(encoding="utf-8")
    assert "val_interval" not in text
    config.write_text(text.replace("training:\n", "training:\n  val_interval: 10\n", 1), encoding="utf-8")
    assert "interval_in_window" in {note["code"] for note in build(script)["notes"]}
    manifest = build(script, acknowledge=["missing_paths", "move_intervals"])
    loaded = yaml.safe_load(copy_of(manifest, "yaml").read_text(encoding="utf-8"))
    assert (
        loaded["training"]["val_interval"] == 100
        and yaml.safe_load(config.read_text())["training"]["val_interval"] == 10
    )
    assert {
        "path": str(copy_of(manifest, "yaml")),
        "key": "training.val_interval",
        "before": 10,
        "after": 100,
    } in manifest["changes"]


def test_disabling_variables_are_taken_from_the_launcher(checkout: Checkout) -> None:
    script = rewritten(checkout, lambda text: text.replace(MM_TOOL, "export PROFILING_MODE=false\n" + MM_TOOL))
    manifest = build(script)
    assert "${MM_PROFILER_RECORD-} env -u PROFILING_MODE torchrun" in copy_of(manifest, "script").read_text("utf-8")


def test_commands_that_change_the_world_need_consent(checkout: Checkout) -> None:
    lines = 'rm -rf "$OLD_RUNS"\npkill -9 -f trainer.py\nsed -i "s/a/b/" ./mindspeed_mm/training.py\n'
    script = rewritten(checkout, lambda text: text.replace(MM_TOOL, lines + MM_TOOL))
    error = refused(script)
    assert error.code == "script_changes_world" and error.params["count"] == 3
    manifest = build(script, acknowledge=["missing_paths", "world_changes"])
    text = copy_of(manifest, "script").read_text(encoding="utf-8")
    assert ': rm -rf "$OLD_RUNS"\n: pkill -9' in text and ": sed -i" in text


def test_a_script_that_rewrites_its_yaml_leads_to_the_copies(checkout: Checkout) -> None:
    script = checkout.scripts["yaml"]
    text = script.read_text(encoding="utf-8")
    plan = read_launch(script)
    config, tools = plan.chain[1].path, plan.chain[2].path
    assert plan.chain[1].word is not None
    named = plan.chain[1].word.text
    assert text.count(named) == 1
    rewrite = f'TOOL="{tools}"\nCONFIG="{config}"\nsed -i -e "s|^\\(MM_TOOL_PATH:\\) .*|\\1 $TOOL|" "$CONFIG"\n'
    head, _, rest = text.partition("\n")
    script.write_text(f"{head}\n{rewrite}{rest.replace(named, '$CONFIG')}", encoding="utf-8")
    before = config.read_bytes()
    manifest = build(script)
    copied = copy_of(manifest, "script").read_text(encoding="utf-8")
    assert f'TOOL="{copy_of(manifest, "tools_json")}"' in copied and f'CONFIG="{copy_of(manifest, "yaml")}"' in copied
    # what sed then does to the copy changes nothing in it
    written = copy_of(manifest, "yaml")
    line = next(line for line in copied.splitlines() if line.startswith("sed -i"))
    names = "\n".join(line for line in copied.splitlines() if line.startswith(("TOOL=", "CONFIG=")))
    subprocess.run(["bash", "-c", f"{names}\n{line}"], check=True, timeout=20, cwd=checkout.root)
    assert yaml.safe_load(written.read_text("utf-8"))["MM_TOOL_PATH"] == str(copy_of(manifest, "tools_json"))
    assert config.read_bytes() == before


def test_checkpoints_are_not_saved_over(checkout: Checkout, tmp_path: Path) -> None:
    save = tmp_path / "saved"
    (save / "iter_0000010").mkdir(parents=True)
    script = rewritten(checkout, lambda text: text.replace("./save_dir", str(save)))
    assert read_launch(script).save == save
    assert refused(script).code == "checkpoint_overwrite"
    build(script, acknowledge=["missing_paths", "checkpoint_overwrite"])


def test_misspelt_neighbours_and_decoys_are_pointed_out(checkout: Checkout) -> None:
    config = read_launch(checkout.scripts["fsdp2"]).chain[1].path
    loaded = yaml.safe_load(config.read_text(encoding="utf-8"))
    loaded["tools"]["profile"]["enabled"] = True
    loaded["training"] = {**loaded["training"], "profile": {"enable": True}, "train_epochs": 3}
    config.write_text(yaml.safe_dump(loaded), encoding="utf-8")
    manifest = build(checkout.scripts["fsdp2"])
    codes = {note["code"] for note in manifest["notes"]}
    assert {"did_you_mean", "decoy_training_profile", "train_epochs_taken_out"} <= codes
    assert yaml.safe_load(copy_of(manifest, "yaml").read_text("utf-8"))["training"]["train_epochs"] is None


def test_a_dataclass_release_refuses_an_unknown_key(tmp_path: Path) -> None:
    strict = make_checkout(tmp_path / "mm", "26.0.0")
    config = read_launch(strict.scripts["fsdp2"]).chain[1].path
    loaded = yaml.safe_load(config.read_text(encoding="utf-8"))
    loaded["tools"]["profile"]["enabled"] = True
    config.write_text(yaml.safe_dump(loaded), encoding="utf-8")
    assert refused(strict.scripts["fsdp2"]).code == "profile_key_unknown"


def test_required_keys_are_completed(checkout: Checkout) -> None:
    tools = checkout.root / "mindspeed_mm/tools/tools.json"
    tools.write_text('{"profile": {"static_param": {}}}', encoding="utf-8")
    block = json.loads(copy_of(build(checkout.scripts["tools_json"]), "tools_json").read_text(encoding="utf-8"))
    assert block["profile"]["dynamic_param"]["config_path"] and block["profile"]["profile_type"] == "static"


@pytest.mark.parametrize("number", range(1, 7))
def test_a_full_disk_leaves_nothing(checkout: Checkout, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(checkout.root)
    calls = 0
    real = store._write_new

    def failing(path: Path, data: bytes, mode: int) -> None:
        nonlocal calls
        calls += 1
        if calls == number:
            path.write_bytes(data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        real(path, data, mode)

    monkeypatch.setattr(store, "_write_new", failing)
    if number > 4:
        build(checkout.scripts["yaml"])
        assert calls == 4
        return
    assert refused(checkout.scripts["yaml"]).code == "copy_not_written"
    assert snapshot(checkout.root) == before and not (checkout.root / "npu_profiling").exists()
    assert profile_config.list_builds() == []


KILLED = """
import os, sys
from pathlib import Path
from mindspeed_mm_train_profiler import profile_config
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.profile_config import store
number, calls = int(sys.argv[2]), [0]
def counted(real):
    def call(*arguments):
        calls[0] += 1
        if calls[0] == number:
            os._exit(9)
        return real(*arguments)
    return call
store._write_new, store._appear, store.write_json = map(counted, (store._write_new, store._appear, store.write_json))
options = ProfileOptions(acknowledge=["missing_paths"])
profile_config.build(profile_config.prepare(read_launch(Path(sys.argv[1])), options))
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3, 4, 6, 7, 9, 10, 12, 13, 14])
def test_a_killed_build_leaves_no_script_and_is_cleaned_up(checkout: Checkout, number: int) -> None:
    before = snapshot(checkout.root)
    script = checkout.scripts["yaml"]
    done = subprocess.run([sys.executable, "-c", KILLED, str(script), str(number)], timeout=60)
    assert done.returncode == 9
    left = snapshot(checkout.root)
    assert {path: left[path] for path in before} == before
    store.clean_leftovers()
    assert snapshot(checkout.root) == before and profile_config.list_builds() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_read_only_directory(checkout: Checkout) -> None:
    folder = checkout.scripts["tools_json"].parent
    folder.chmod(0o555)
    try:
        manifest = build(checkout.scripts["tools_json"])
        assert read_launch(copy_of(manifest, "script"), workdir=checkout.root).train_iters.value == 100
    finally:
        folder.chmod(0o755)


def test_copies_go_into_the_build_where_the_place_cannot_be_written(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    monkeypatch.setattr(sys.modules["mindspeed_mm_train_profiler.profile_config.build"], "writable", lambda _: False)
    manifest = build(checkout.scripts["tools_json"])
    assert all(own_state in Path(copy["copy"]).parents for copy in manifest["copies"])
    plan = read_launch(copy_of(manifest, "script"), workdir=checkout.root)
    assert plan.config_path == copy_of(manifest, "tools_json") and plan.train_iters.value == 100
    rewritten(checkout, lambda text: text.replace(MM_TOOL, 'BASE=$(cd $(dirname "$0"); pwd)\n' + MM_TOOL))
    assert refused(checkout.scripts["tools_json"]).code == "directory_not_writable"


def test_an_original_that_changes_meanwhile_stops_the_build(checkout: Checkout) -> None:
    proposal = profile_config.prepare(
        read_launch(checkout.scripts["tools_json"]), ProfileOptions(acknowledge=["missing_paths"])
    )
    checkout.scripts["tools_json"].write_text("# other\n", encoding="utf-8")
    with pytest.raises(CodedError, match="original_changed"):
        profile_config.build(proposal)
