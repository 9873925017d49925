"""What a look at a session can find. ``remark``: worth saying, but the data is valid all the same."""

from dataclasses import dataclass

from mindspeed_mm_train_profiler.errors import Note


@dataclass(frozen=True, slots=True)
class Problem:
    """``looked`` is what was looked at, with what was met there: paths, numbers, quoted lines."""

    code: str
    looked: str
    remark: bool = False

    @property
    def note(self) -> Note:
        return Note(self.code, {"looked": self.looked})
