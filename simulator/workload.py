"""The work of one step: kernels and collectives with times that add up. Deterministic for a rank and a step.

A step of ``duration`` us: the host prepares, three layers run forward and backward, gradients are reduced beside the
backward pass (partly hidden behind it), the optimizer runs, and the device idles in between.
"""

import random
from dataclasses import asdict, dataclass
from typing import Any

# type, kernel name, core, share of the computing time of one layer, matrix work
FORWARD = (
    ("RmsNorm", "RmsNorm", "AI_VECTOR_CORE", 3, False),
    ("MatMulV3", "aclnnMatmul_MatMulV3Common_MatMulV3", "AI_CORE", 14, True),
    ("RotaryPositionEmbedding", "RotaryPositionEmbedding", "AI_VECTOR_CORE", 2, False),
    ("FlashAttentionScore", "FlashAttentionScore", "MIX_AIC", 10, True),
    ("MatMulV3", "aclnnMatmul_MatMulV3Common_MatMulV3", "AI_CORE", 12, True),
    ("SwiGlu", "SwiGlu", "AI_VECTOR_CORE", 2, False),
    ("Add", "aclnnAdd_AddAiCore_Add", "AI_VECTOR_CORE", 2, False),
)
BACKWARD = (
    ("SwiGluGrad", "SwiGluGrad", "AI_VECTOR_CORE", 3, False),
    ("MatMulV3", "aclnnMatmul_MatMulV3Common_MatMulV3", "AI_CORE", 24, True),
    ("FlashAttentionScoreGrad", "FlashAttentionScoreGrad", "MIX_AIC", 22, True),
    ("RmsNormGrad", "RmsNormGrad", "MIX_AIV", 4, False),
    ("Cast", "aclnnCast_CastAiCore_Cast", "AI_VECTOR_CORE", 2, False),
)
OPTIMIZER = (("ApplyAdamWV2", "aclnnApplyAdamWV2_ApplyAdamWV2", "AI_VECTOR_CORE", 20, False),)
LAYERS = 3


@dataclass
class Kernel:
    """A task on the device. ``start``: us since its step began; ``duration`` in us; ``wait``: idle us of its stream."""

    name: str
    type: str
    core: str
    start: float
    duration: float
    wait: float
    matrix: bool


@dataclass
class Step:
    """One step on one rank: [start, end) in ns of the wall clock (a float of us since 1970 has quarters only)."""

    number: int
    start: int
    end: int
    kernels: list[Kernel]
    collectives: list[Kernel]

    @property
    def duration(self) -> float:
        """us"""
        return (self.end - self.start) / 1000

    def moment(self, offset: float) -> str:
        """The wall clock in us, three decimals, at ``offset`` us after the step's beginning."""
        at = self.start + round(offset * 1000)
        return f"{at // 1000}.{at % 1000:03d}"

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


def from_record(record: dict[str, Any]) -> Step:
    kernels = [Kernel(**item) for item in record["kernels"]]
    collectives = [Kernel(**item) for item in record["collectives"]]
    return Step(record["number"], record["start"], record["end"], kernels, collectives)


def make_step(number: int, start: int, end: int, *, rank: int, world_size: int) -> Step:
    """Lay the step's work into the time that its pass really took (ns)."""
    dice = random.Random(f"{rank}-{number}")
    length = max((end - start) / 1000, 200.0)
    plan = [*FORWARD * LAYERS, *BACKWARD * LAYERS, *OPTIMIZER]
    unit = 0.66 * length / sum(item[3] for item in plan)
    gap = 0.18 * length / len(plan)
    clock = 0.05 * length
    kernels: list[Kernel] = []
    idle = 0.0
    for kind, name, core, share, matrix in plan:
        duration = round(share * unit * dice.uniform(0.95, 1.05), 2)
        kernels.append(Kernel(name, kind, core, round(clock, 3), duration, round(idle, 3), matrix))
        idle = gap * dice.uniform(0.5, 1.5)
        clock += duration + idle
    collectives = _reduce(kernels, dice, unit) if world_size > 1 else []
    return Step(number, start, start + round(length * 1000), kernels, collectives)


def _reduce(kernels: list[Kernel], dice: random.Random, unit: float) -> list[Kernel]:
    """One all-reduce for each backward layer, begun when the layer is done; the last waits for the optimizer's turn."""
    backward = len(FORWARD) * LAYERS
    found = []
    for layer in range(LAYERS):
        last = kernels[backward + (layer + 1) * len(BACKWARD) - 1]
        begin = round(last.start + last.duration, 3)
        duration = round(14 * unit * dice.uniform(0.9, 1.1), 2)
        if layer == LAYERS - 1:
            duration = min(duration, round(max(kernels[-1].start - begin, 1.0) * 0.9 + 6 * unit, 2))
        name = f"hcom_allReduce__{layer:03d}_{layer}_1"
        found.append(Kernel(name, "hcom_allReduce_", "COMMUNICATION", begin, duration, 1.99, False))
    return found


def merged(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The union of [begin, end) intervals, in order."""
    union: list[tuple[float, float]] = []
    for begin, end in sorted(intervals):
        if union and begin <= union[-1][1]:
            union[-1] = (union[-1][0], max(union[-1][1], end))
        else:
            union.append((begin, end))
    return union


def covered(first: list[tuple[float, float]], second: list[tuple[float, float]]) -> float:
    """Length that two unions have in common."""
    return sum(max(0.0, min(b, d) - max(a, c)) for a, b in first for c, d in second)


def spans(tasks: list[Kernel]) -> list[tuple[float, float]]:
    return merged([(task.start, task.start + task.duration) for task in tasks])


def length(intervals: list[tuple[float, float]]) -> float:
    return sum(end - begin for begin, end in intervals)


@dataclass(frozen=True)
class StepTimes:
    """Row of step_trace_time.csv, us. computing + not_overlapped + free == stage (to the rounding, 1 ns)."""

    computing: float
    not_overlapped: float
    overlapped: float
    communication: float
    free: float
    stage: float
    preparing: float


def step_times(step: Step) -> StepTimes:
    computing, communication = spans(step.kernels), spans(step.collectives)
    overlapped = covered(computing, communication)
    busy = merged(computing + communication)
    begin, end = busy[0][0], busy[-1][1]
    return StepTimes(
        computing=round(length(computing), 3),
        not_overlapped=round(length(communication) - overlapped, 3),
        overlapped=round(overlapped, 3),
        communication=round(length(communication), 3),
        free=round((end - begin) - length(busy), 3),
        stage=round(end - begin, 3),
        preparing=round(begin, 3),
    )
