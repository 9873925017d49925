"""Command line options made from a tool's own signature, so that a command can never lag behind its tool.

Required parameters become positionals, the rest options: ``workdir`` is ``--workdir PATH``; booleans are
``--flag/--no-flag``; lists are repeatable; ``env`` takes ``NAME=VALUE``; a model (``options``, ``expected``) is
opened into one option a field. What a value must look like is decided by the tool's own pydantic types.
"""

import argparse
import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.tools.common import Injected

SKIPPED = {"language"}


@dataclass(frozen=True, slots=True)
class Argument:
    """One option of a command. ``group``: the tool parameter whose model it belongs to, or None."""

    name: str
    annotation: Any
    required: bool
    help: str
    group: str | None = None

    @property
    def key(self) -> str:
        return f"{self.group}.{self.name}" if self.group else self.name


def _plain(annotation: Any) -> Any:
    """The annotation without ``Annotated`` and ``| None``."""
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [part for part in typing.get_args(annotation) if part is not type(None)]
        if len(rest) == 1:
            return _plain(rest[0])
    return annotation


def _help(annotation: Any) -> str:
    if typing.get_origin(annotation) is typing.Annotated:
        for extra in typing.get_args(annotation)[1:]:
            if isinstance(extra, FieldInfo) and extra.description:
                return extra.description.replace("%", "%%")
    return ""


def _is_model(annotation: Any) -> bool:
    plain = _plain(annotation)
    return inspect.isclass(plain) and issubclass(plain, BaseModel)


def _is_injected(annotation: Any) -> bool:
    """Filled by the server (a resolver, the request's context), never by a caller."""
    return any(isinstance(extra, Injected) for extra in typing.get_args(annotation)[1:])


def arguments_of(function: Callable[..., Any]) -> list[Argument]:
    """The options of a command, in the order of the function's parameters."""
    found: list[Argument] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        annotation = parameter.annotation
        if parameter.name in SKIPPED or _is_injected(annotation):
            continue
        if _is_model(annotation):
            for name, info in _plain(annotation).model_fields.items():
                text = (info.description or "").replace("%", "%%")
                found.append(Argument(name, info.rebuild_annotation(), False, text, group=parameter.name))
        else:
            required = parameter.default is inspect.Parameter.empty
            found.append(Argument(parameter.name, annotation, required, _help(annotation)))
    return found


def add_to(parser: argparse.ArgumentParser, function: Callable[..., Any]) -> None:
    """Add a function's options to a parser."""
    for argument in arguments_of(function):
        plain = _plain(argument.annotation)
        flag = "--" + argument.name.replace("_", "-")
        extra: dict[str, Any] = {"dest": argument.key, "default": argparse.SUPPRESS, "help": argument.help or None}
        origin = typing.get_origin(plain)
        if argument.required:
            parser.add_argument(argument.name, help=extra["help"])
        elif plain is bool:
            parser.add_argument(flag, action=argparse.BooleanOptionalAction, **extra)
        elif origin is typing.Literal:
            parser.add_argument(flag, choices=list(typing.get_args(plain)), **extra)
        elif origin is dict or "Mapping" in str(origin):
            parser.add_argument(flag, action="append", metavar="NAME=VALUE", **extra)
        elif origin in (list, tuple) or "Sequence" in str(origin):
            extra["help"] = "; ".join(filter(None, [argument.help, _choices(plain), _how_often(plain)]))
            parser.add_argument(flag, action="append", metavar="VALUE", **extra)
        else:
            extra["help"] = "; ".join(filter(None, [argument.help, _range(argument.annotation)])) or None
            parser.add_argument(flag, metavar=argument.name.upper(), **extra)


def _item(plain: Any) -> Any:
    found = typing.get_args(plain)
    return _plain(found[0]) if found else str


def _choices(plain: Any) -> str:
    item = _item(plain)
    return "of " + ", ".join(map(str, typing.get_args(item))) if typing.get_origin(item) is typing.Literal else ""


def _how_often(plain: Any) -> str:
    """Numbers and words of a fixed set hold no comma, so that one separates them; anything else is repeated whole."""
    return "separated by commas, or repeated" if _by_commas(plain) else "repeatable"


def _by_commas(plain: Any) -> bool:
    item = _item(plain)
    return item is int or typing.get_origin(item) is typing.Literal


def _range(annotation: Any) -> str:
    """``0 to 20`` for a number with bounds."""
    low = high = None
    for extra in typing.get_args(annotation)[1:] if typing.get_origin(annotation) is typing.Annotated else ():
        for bound in getattr(extra, "metadata", ()):
            low, high = getattr(bound, "ge", low), getattr(bound, "le", high)
    if low is None and high is None:
        return ""
    return f"at least {low}" if high is None else f"{0 if low is None else low} to {high}"


def _value(argument: Argument, raw: Any) -> Any:
    """What the tool gets for what stood on the command line."""
    plain = _plain(argument.annotation)
    if typing.get_origin(plain) is dict or "Mapping" in str(typing.get_origin(plain)):
        pairs = [str(item).partition("=") for item in raw]
        if bad := [name for name, equals, _ in pairs if not equals or not name]:
            raise CodedError(
                "option_invalid", found=bad[0], expected="NAME=VALUE", option=argument.name.replace("_", "-")
            )
        return {name: value for name, _, value in pairs}
    if isinstance(raw, list) and typing.get_origin(plain) is list and _by_commas(plain):
        raw = [part for item in raw for part in str(item).replace(",", " ").split()]  # --ranks 0,1,2
    if isinstance(raw, str) and typing.get_origin(plain) in (typing.Union, types.UnionType):
        parts = typing.get_args(plain)
        if raw.replace(",", "").replace(" ", "").isdecimal() and any(typing.get_origin(p) is list for p in parts):
            raw = [part for part in raw.replace(",", " ").split() if part]  # --ranks 0,1,2
    try:
        return TypeAdapter(argument.annotation).validate_python(raw, strict=False)
    except ValidationError as error:
        detail = "; ".join(item["msg"] for item in error.errors(include_url=False)[:3])
        raise CodedError("option_invalid", found=raw, expected=detail, option=argument.name.replace("_", "-")) from None


def values(function: Callable[..., Any], parsed: dict[str, Any]) -> dict[str, Any]:
    """Arguments for ``function`` from parsed options; models are built, absent ones are left out."""
    result: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    for argument in arguments_of(function):
        if argument.key not in parsed:
            continue
        value = _value(argument, parsed[argument.key])
        if argument.group:
            groups.setdefault(argument.group, {})[argument.name] = value
        else:
            result[argument.name] = value
    signature = inspect.signature(function, eval_str=True)
    for parameter in signature.parameters.values():  # a model that is required: all of its fields have defaults
        if parameter.default is inspect.Parameter.empty and _is_model(parameter.annotation):
            groups.setdefault(parameter.name, {})
    for group, fields in groups.items():
        try:
            result[group] = _plain(signature.parameters[group].annotation)(**fields)
        except ValidationError as error:
            item = error.errors(include_url=False)[0]
            name = ".".join(str(part) for part in item["loc"]) or group
            raise CodedError(
                "option_invalid", found=item.get("input"), expected=item["msg"], option=name.replace("_", "-")
            ) from None
    return result
