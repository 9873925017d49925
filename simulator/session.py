"""One ``*_ascend_pt`` directory as it stands after collection, before any parsing.

Layout: facts of torch_npu/profiler/_profiler_path_creator.py, profiler_interface.py (_dump_profiler_info,
_dump_metadata) and of the native library's output. The payloads are filler; whoever parses this session gets its
numbers from ``simulated.json`` beside them, in the place where a real parser would decode the payloads.
"""

import json
import os
import random
import socket
import string
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from mindspeed_mm_train_profiler.simulator.generations import Generation
from mindspeed_mm_train_profiler.simulator.request import Place, Request

RECORD = "simulated.json"
ENVIRONMENT = (
    "ASCEND_GLOBAL_LOG_LEVEL",
    "HCCL_RDMA_TC",
    "HCCL_RDMA_SL",
    "ACLNN_CACHE_LIMIT",
    "HOST_CACHE_CAPACITY",
    "ASCEND_ENHANCE_ENABLE",
    "PYTORCH_NPU_ALLOC_CONF",
    "ASCEND_LAUNCH_BLOCKING",
)
NOTE = "written by a simulated NPU host; nothing here was measured on a device"


class Session:
    """Creates and fills one session."""

    def __init__(self, request: Request, generation: Generation, place: Place) -> None:
        self.request, self.generation, self.place = request, generation, place
        zone = timezone.utc if generation.utc_names else None
        stamp = datetime.now(zone).strftime("%Y%m%d%H%M%S%f")[:-3]
        parent = Path(os.path.realpath(request.save_path))
        self.path = parent / f"{socket.gethostname()}_{os.getpid()}_{stamp}_ascend_pt"
        self.path.mkdir(mode=0o750, parents=True)
        tail = "".join(random.choices(string.ascii_uppercase, k=16))
        self._prof = self.path / f"PROF_000001_{datetime.now(zone).strftime('%Y%m%d%H%M%S%f')[:-3]}_{tail}"
        self._start: dict[str, Any] = {}

    def _fill(self, path: Path, content: bytes | int, *, done: bool = True) -> None:
        """Write a payload (a number: that many filler bytes) and its ``.done`` twin."""
        data = random.randbytes(content) if isinstance(content, int) else content
        path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o640)
        if done:
            twin = path.with_name(path.name + ".done")
            twin.write_text(f"filesize:{len(data)}\n", encoding="utf-8")
            twin.chmod(0o640)

    def _ends(self, *, device: bool) -> list[tuple[Path, str]]:
        """(folder, suffix of its control files) of the host's half and, where it records, the device's."""
        if not self.request.npu:
            return []
        halves = [(self._prof / "host", "")]
        return [*halves, (self._prof / f"device_{self.place.device}", f".{self.place.device}")] if device else halves

    def start(self, *, device_data: bool) -> None:
        """What exists once recording has begun; a killed process leaves just this."""
        if self.request.cpu:
            for name, size in self._framework():
                self._fill(self.path / "FRAMEWORK" / name, size, done=False)
        for folder, dot in self._ends(device=device_data):
            now = time.time_ns()
            info = {
                "simulated": NOTE,
                "rank_id": self.place.rank,
                "devices": str(self.place.device),
                "platform_version": "5",
            }
            self._fill(folder / f"info.json{dot}", json.dumps(info).encode())
            self._fill(
                folder / "sample.json", json.dumps({"simulated": NOTE, "devices": str(self.place.device)}).encode()
            )
            self._fill(folder / f"start_info{dot}", json.dumps({"collectionTimeBegin": str(now // 1000)}).encode())
            self._fill(
                folder / f"host_start.log{dot}",
                f"[Host]\nclock_monotonic_raw: {time.monotonic_ns()}\ncntvct: {now // 10}\ncntvct_diff: 0\n".encode(),
            )
        self._start = {
            "syscnt_enable": True,
            "freq": 100,
            "start_cnt": time.monotonic_ns() // 10,
            "start_monotonic": time.monotonic_ns(),
        }

    def _framework(self) -> list[tuple[str, int]]:
        request = self.request
        files = [("torch.op_range", 16384), ("torch.op_mark", 4096)]
        if request.memory:
            files.append(("torch.memory_usage", 8192))
        if request.stack:
            files += [("torch.python_tracer_func", 32768), ("torch.python_tracer_hash", 8192)]
            if request.shapes and request.memory:
                files.append(("torch.param_tensor_info", 2048))
        return files

    def stop(self, steps: list[dict[str, Any]], *, device_data: bool) -> None:
        """Flush: payloads, end_info, profiler_info and profiler_metadata. ``steps``: see ``workload.Step``."""
        level1 = self.request.level1
        for folder, dot in self._ends(device=device_data):
            if dot:
                names = [f"stars_soc.data{dot}.slice_0", f"ts_track.data{dot}.slice_0"]
                names += [f"ffts_profile.data{dot}.slice_0"] if level1 else []
                if self.request.memory:
                    names += [f"npu_mem.app{dot}.slice_0", f"npu_module_mem.data{dot}.slice_0"]
            else:
                names = ["unaging.api_event.data.slice_0", "unaging.compact.node_basic_info.slice_0"]
                names += ["unaging.additional.hash_dic.slice_0"]
                if level1 and self.place.world_size > 1:
                    names.append("unaging.additional.hccl_info.slice_0")
            for name in names:
                self._fill(folder / "data" / name, 8192)
            self._fill(
                folder / f"end_info{dot}", json.dumps({"collectionTimeEnd": str(time.time_ns() // 1000)}).encode()
            )
        record = {
            "note": NOTE,
            "device_data": device_data,
            "device": self.place.device,
            "world_size": self.place.world_size,
        }
        beside = self._prof / "host" if self.request.npu else self.path / "FRAMEWORK"
        self._fill(beside / RECORD, json.dumps(record | {"steps": steps}).encode(), done=False)
        self._json(f"profiler_info_{self.place.rank}.json", self.information, indent=4)
        self._json("profiler_metadata.json", self._metadata(), indent=None if self.generation.versions_in_info else 4)

    def schedule(self, recorded: Mapping[str, int]) -> None:
        """Remember the schedule and with it everything profiler_info says about the request."""
        request, generation = self.request, self.generation
        activities = [f"ProfilerActivity.{kind}" for kind in ("NPU", "CPU") if getattr(request, kind.lower())]
        random.shuffle(activities)  # a set in torch_npu: any order
        experimental: dict[str, Any] = {
            "_profiler_level": request.level,
            "_aic_metrics": request.metrics,
            "_l2_cache": False,
            "_msprof_tx": False,
            **({"_mstx": False} if generation.mstx else {}),
            "_data_simplification": request.simplify,
            "record_op_args": False,
            "_export_type": ["text"] if generation.export_list else "text",
            **({"_host_sys": []} if generation.device_column else {}),
            "_op_attr": False,
            "_gc_detect_threshold": None,
        }
        if generation.device_column:
            experimental |= {"_mstx_domain_include": [], "_mstx_domain_exclude": []}
            experimental |= {"_sys_io": False, "_sys_interconnection": False}
        self._config = {
            "common_config": {
                "activities": activities,
                "schedule": dict(recorded),
                "record_shapes": request.shapes,
                "profile_memory": request.memory,
                "with_stack": request.stack,
                "with_flops": request.flops,
                "with_modules": request.modules,
            },
            "experimental_config": experimental,
        }

    @property
    def information(self) -> dict[str, Any]:
        info: dict[str, Any] = {
            "config": self._config,
            "start_info": self._start,
            "end_info": {"collectionTimeEnd": time.time_ns(), "MonotonicTimeEnd": time.monotonic_ns()},
        }
        if self.generation.versions_in_info:
            info |= {"torch_npu_version": self.generation.package, "cann_version": self.generation.cann}
        return info | {"rank_id": str(self.place.rank)}

    def _metadata(self) -> dict[str, Any]:
        names = ENVIRONMENT + (("HCCL_ALGO",) if self.generation.versions_in_info else ())
        metadata: dict[str, Any] = {"simulated": NOTE}
        metadata["ENV_VARIABLES"] = {name: os.environ.get(name, "") for name in names}
        if self.generation.versions_in_info and self.place.world_size > 1:
            ranks = list(range(self.place.world_size))
            group = {"group_name": "default_group", "group_rank": self.place.rank, "global_ranks": ranks}
            metadata["parallel_group_info"] = {group_name(self.place.world_size): group}
        return metadata

    def _json(self, name: str, value: Any, *, indent: int | None = None) -> None:
        path = self.path / name
        path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
        path.chmod(0o640)


def group_name(world_size: int) -> str:
    """Name of the one communication group: the same on every rank."""
    return f"172.16.0.1%eth0_60000_0_{world_size:04d}"
