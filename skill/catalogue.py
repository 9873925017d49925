"""The questions as a client reads them: plain data in one language."""

from typing import Any

from mindspeed_mm_train_profiler.skill.questions import BY_ID, CUSTOM, EXISTING, QUESTIONS, Question
from mindspeed_mm_train_profiler.skill.wording import Language, text


def question(language: Language, item: Question) -> dict[str, Any]:
    """One question. ``custom``: pattern and example of a value of one's own, null where none is taken."""

    def say(key: str) -> str:
        return text(language, f"question.{item.id}.{key}")

    listed = [{"value": option.value, "label": say(option.value), "sets": dict(option.sets)} for option in item.options]
    return {
        "id": item.id,
        "sign": item.sign or None,
        "text": say("text"),
        "options": listed,
        "default": list(item.default) if isinstance(item.default, tuple) else item.default,
        "multiple": item.multiple,
        "custom": None
        if item.custom is None
        else {"label": say(CUSTOM), "pattern": item.custom, "hint": say("custom_hint")},
        "asked_when": {
            "rule": item.asked_when,
            "text": text(language, f"question.when.{item.asked_when}"),
        },
        "maps_to": list(item.maps_to),
    }


def questions(language: Language) -> dict[str, Any]:
    """All questions in their order; ``before``: what is asked first where the user's file profiles already."""
    return {
        "language": language,
        "questions": [question(language, item) for item in QUESTIONS],
        "before": [question(language, EXISTING)],
    }


def by_id(language: Language, question_id: str) -> dict[str, Any] | None:
    """One question; None where there is none of that id."""
    item = BY_ID.get(question_id)
    return question(language, item) if item is not None else None
