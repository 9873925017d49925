"""What a parser knows of one session; every table and the trace are made from it."""

from dataclasses import dataclass

from mindspeed_mm_train_profiler.simulator.generations import Generation
from mindspeed_mm_train_profiler.simulator.workload import Step


@dataclass(frozen=True)
class Source:
    """What a parser knows of one session."""

    steps: list[Step]
    generation: Generation
    level: str
    metrics: str
    cpu: bool
    device_data: bool
    shapes: bool
    stack: bool
    memory: bool
    rank: int
    device: int
    world_size: int

    @property
    def level1(self) -> bool:
        return self.level in ("Level1", "Level2")

    def with_device(self, name: object = None) -> list[object]:
        """The Device_id cell where this generation writes one."""
        return [self.device if name is None else name] if self.generation.device_column else []
