"""What every answer goes through before it is understood: plain text, without words that carry nothing."""

import re
import unicodedata
from typing import Any

from mindspeed_mm_train_profiler.errors import CodedError

MAX_CHARS = 2000

DEFAULT = re.compile(r"(use |the |用|就用|按)?\s*(default|defaults|recommended|默认|默认值|推荐|推荐值)(的|即可|吧)?")
FILLER = re.compile(
    r"^(please|i want|i'd like|i would like|let's|go with|make it|use|choose|select|take|collect|profile|capture|"
    r"custom|only|just|the|我要|我想要|我想|请用|请|选择|选|采用|采集|使用|自定义|自行输入|设置为|设为|设成|改为|改成|用|就|仅仅|仅|只|要)"
    r"\s*[:,]?\s*"
    r"|\s*(please|only|thanks|模式|采集|类型|指标|级别|就行|就好|即可|就可以|可以|吧|的|了)$"
)


def refuse(question: str, raw: Any) -> CodedError:
    shown = raw if isinstance(raw, str) else repr(raw)
    return CodedError("answer_not_understood", found=shown[:200], question=question)


def plain(raw: str) -> str:
    """Lower case, full-width forms made plain, blanks collapsed, a closing mark dropped."""
    text = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", raw).casefold()).strip()
    text = re.sub(r"(?<=\S)\s*\([^()]*\)$", "", text)  # a label's remark: "level1 (recommended)"
    return text.strip("。.!\"'`“”‘’「」").strip()


def core(text: str) -> str:
    """The answer without words that carry nothing ("please", "就用")."""
    while (less := FILLER.sub("", text).strip()) != text and less:
        text = less
    return text
