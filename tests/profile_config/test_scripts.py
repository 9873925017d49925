"""Generated launch scripts: whatever their shape, the copy differs in the asked places alone, and bash agrees."""

import subprocess
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mindspeed_mm_train_profiler import profile_config
from mindspeed_mm_train_profiler.launch_script import read_launch
from mindspeed_mm_train_profiler.options import ProfileOptions
from mindspeed_mm_train_profiler.simulator.sample import make_checkout

ECHO = "#!/bin/bash\nprintf '%s\\n' \"$@\"\n"


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """A script that reaches the sample's tools.json and 5000 iterations in one of many ways."""
    name = draw(st.sampled_from(["MM_TOOL", "TOOLS", "_cfg1"]))
    quote = draw(st.sampled_from(["", '"', "'"]))
    path = "./mindspeed_mm/tools/tools.json"
    plain = draw(st.booleans())
    definition = f"{name}={quote}{path}{quote}" if plain else f'{name}="${{{name}:-{path}}}"'
    iters = draw(st.sampled_from(["5000", "$ITERS", "${ITERS}", "${ITERS:-5000}"]))
    sign = draw(st.sampled_from([" ", "="]))
    use = draw(st.sampled_from([f"${name}", f"${{{name}}}"]))
    blob = f"--train-iters{sign}{iters} --mm-tool {use}"
    if draw(st.booleans()):
        blob = ["--seed 7 ", "\n    # not an option\n"][0] + blob
    style = draw(st.sampled_from(["blob", "array", "inline"]))
    comment = draw(st.sampled_from(["# --train-iters 5000 --mm-tool ./mindspeed_mm/tools/tools.json", "# 注释 5000"]))
    lines = ["#!/bin/bash", comment, "ITERS=5000", definition]
    start = "torchrun --nproc_per_node 2 pretrain_vlm.py"
    if style == "blob":
        lines += [f'ARGS="\n    {blob} \\\n"', f"{start} $ARGS --save-interval 5000"]
    elif style == "array":
        lines += [f"ARGS=({blob})", f'{start} "${{ARGS[@]}}" --save-interval 5000']
    else:
        lines += [f"{start} \\\n    {blob} --save-interval 5000"]
    if draw(st.booleans()):
        lines[-1] += " 2>&1 | tee out.log"
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\necho done\n"]))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(scripts(), st.integers(13, 90_000))
def test_generated_scripts(text: str, iters: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = make_checkout(Path(folder) / "mm").root
        script = root / "examples" / "made.sh"
        script.write_text(text, encoding="utf-8")
        stubs = Path(folder) / "bin"
        stubs.mkdir()
        (stubs / "torchrun").write_text(ECHO, encoding="utf-8")
        (stubs / "torchrun").chmod(0o755)

        def launched(path: Path, **env: str) -> list[str]:
            done = subprocess.run(
                ["bash", str(path)],
                cwd=root,
                env={"PATH": f"{stubs}:/usr/bin:/bin", **env},
                capture_output=True,
                text=True,
                timeout=20,
            )
            return [line for line in done.stdout.splitlines() if line != "done"]

        options = ProfileOptions(train_iters=iters, acknowledge=["missing_paths"])
        manifest = profile_config.build(profile_config.prepare(read_launch(script), options))
        copies = {copy["role"]: Path(copy["copy"]) for copy in manifest["copies"]}
        before, after = launched(script), launched(copies["script"])
        tools = "./mindspeed_mm/tools/" + copies["tools_json"].name
        assert [word for word in before if word not in after] != []
        expected = [
            word.replace("./mindspeed_mm/tools/tools.json", tools).replace(
                "--train-iters=5000", f"--train-iters={iters}"
            )
            for word in before
        ]
        if "--train-iters" in expected:
            expected[expected.index("--train-iters") + 1] = str(iters)
        assert after == expected
        hostile = launched(copies["script"], MM_TOOL="/else.json", TOOLS="/else.json", _cfg1="/else.json", ITERS="3")
        assert hostile == after
        assert script.read_text(encoding="utf-8") == text
        profile_config.discard(manifest["config_id"])
