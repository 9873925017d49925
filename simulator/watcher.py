"""Dynamic collection on the simulated host: the place where torch_npu's watcher will be simulated.

Source to follow: torch_npu/profiler/dynamic_profile.py and _dynamic_profiler/. Today ``init`` makes the folder and the
default file, as the real one does, and no edit is acted on; the log says so.
"""

import json
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.simulator.engines import ProfileSettings
from mindspeed_mm_train_profiler.simulator.generations import generation
from mindspeed_mm_train_profiler.simulator.messages import Messages, say
from mindspeed_mm_train_profiler.simulator.switches import Switches

TEMPLATE: dict[str, Any] = {
    "activities": ["CPU", "NPU"],
    "prof_dir": "./",
    "analyse": False,
    "record_shapes": False,
    "profile_memory": False,
    "with_stack": False,
    "with_flops": False,
    "with_modules": False,
    "active": 1,
    "warmup": 0,
    "start_step": 0,
    "is_rank": False,
    "rank_list": [],
    "experimental_config": {
        "profiler_level": "Level0",
        "aic_metrics": "AiCoreNone",
        "l2_cache": False,
        "op_attr": False,
        "gc_detect_threshold": None,
        "data_simplification": True,
        "record_op_args": False,
        "export_type": ["text"],
        "mstx": False,
        "msprof_tx": False,
        "mstx_domain_include": [],
        "mstx_domain_exclude": [],
        "host_sys": [],
        "sys_io": False,
        "sys_interconnection": False,
    },
}


class DynamicProfiler:
    """The folder and its default file; captures nothing yet."""

    def __init__(
        self, settings: ProfileSettings, switches: Switches, *, rank: int, world_size: int, device: int
    ) -> None:
        self._folder = Path(settings.config_path or "")
        self._messages = Messages(generation(switches.torch_npu))
        self._rank = rank

    def start(self) -> None:
        if self._folder.is_file():
            self._messages.error(f"The path '{self._folder.absolute()}' is invalid, and profiler will not be enabled.")
            return
        (self._folder / "log").mkdir(mode=0o750, parents=True, exist_ok=True)
        file = self._folder / "profiler_config.json"
        if self._rank == 0 and not file.exists():
            file.write_text(json.dumps(TEMPLATE, indent=4), encoding="utf-8")
            say("simulated NPU host: the dynamic watcher is not simulated yet; an edit of its file starts nothing")

    def step(self) -> None: ...
    def stop(self) -> None: ...

    def recording(self) -> bool:
        return False
