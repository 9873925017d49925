"""What every room says when something expected goes wrong, or deserves a word.

    CodedError     an expected failure: stops the call, reaches the client as {code, message, found, expected, hint}
    Note           a remark (warning, problem, reason): travels inside a result

Neither carries prose. A code is a stable snake_case word; its sentences stand in both catalogues
(``skill/wording/en`` and ``zh``) and are rendered in the language the caller asked for. Whatever is
quoted from the machine (paths, error texts, versions) goes into the parameters and is never translated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Note:
    """A coded remark. ``params`` fill the placeholders of its sentences."""

    code: str
    params: Mapping[str, object] = field(default_factory=dict)


class CodedError(Exception):
    """An expected failure.

    ``found`` is what was met (a path, a value, a line), ``expected`` what would have been right where it is a
    plain value; both are shown as they are. Everything else that the sentences need goes into ``params``.
    """

    def __init__(self, code: str, *, found: object = None, expected: object = None, **params: object) -> None:
        self.code = code
        self.found = None if found is None else str(found)
        self.expected = None if expected is None else str(expected)
        self.params: dict[str, object] = {"found": self.found, "expected": self.expected, **params}
        super().__init__(f"{code}: {self.params}")


class OutputLost(Exception):
    """A command's standard output takes nothing more (a full disk, a terminal that is gone)."""
