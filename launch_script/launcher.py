"""The launcher call: the word that starts the training, the launcher's own options, the entry and its arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mindspeed_mm_train_profiler.launch_script.plan import LauncherCall, Span, Word
from mindspeed_mm_train_profiler.launch_script.state import MAX_CALLS, Shell


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that runs another. ``valued``: options that take the next word. ``skip``: plain words of its own."""

    valued: frozenset[str] = frozenset()
    skip: int = 0
    assigns: bool = False
    container: bool = False


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


WRAPPERS: Mapping[str, Wrapper] = {
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "exec": Wrapper(_options("-a")),
    "command": Wrapper(),
    "builtin": Wrapper(),
    "time": Wrapper(_options("-f -o --format --output")),
    "env": Wrapper(_options("-u --unset -C --chdir"), assigns=True),
    "stdbuf": Wrapper(_options("-o -e -i")),
    "unbuffer": Wrapper(),
    "nice": Wrapper(_options("-n --adjustment")),
    "ionice": Wrapper(_options("-c -n -p --class --classdata")),
    "chrt": Wrapper(_options("-T -P -D"), skip=1),
    "taskset": Wrapper(skip=1),
    "numactl": Wrapper(_options("-C -N -m -i -p -l --cpunodebind --membind --physcpubind --interleave --preferred")),
    "timeout": Wrapper(_options("-k -s --kill-after --signal"), skip=1),
    "sudo": Wrapper(_options("-u -g -C -h -p -U -T"), assigns=True),
    "msprof": Wrapper(),
    "strace": Wrapper(_options("-o -e -s -p")),
    "xvfb-run": Wrapper(_options("-s -n")),
    "docker": Wrapper(_options("-e --env -w --workdir -u --user --name -v --network --ipc"), skip=2, container=True),
    "podman": Wrapper(_options("-e --env -w --workdir -u --user --name -v"), skip=2, container=True),
    "kubectl": Wrapper(_options("-n --namespace -c --container"), skip=2, container=True),
    "srun": Wrapper(_options("-N -n -c -p -A -t -w -J -o -e -D --nodes --ntasks --partition")),
}


@dataclass(frozen=True, slots=True)
class Launcher:
    """``flags``: options that take no value; all others take one. ``words``: plain words before the options."""

    name: str
    flags: frozenset[str]
    words: int = 0


TORCH_FLAGS = _options(
    "--standalone --no-python --no_python -m --module --run-path --run_path --use-env --use_env --help -h --version"
)
LAUNCHERS: Mapping[str, Launcher] = {
    "torchrun": Launcher("torchrun", TORCH_FLAGS),
    "torch_npu_run": Launcher("torch_npu_run", TORCH_FLAGS),
    "msrun": Launcher("msrun", _options("--help -h")),
    "deepspeed": Launcher(
        "deepspeed",
        _options(
            "--no_python --module --no_local_rank --no_ssh --no_ssh_check --force_multi --save_pid --elastic_training "
            "--bind_cores_to_rank -h --help"
        ),
    ),
    "accelerate": Launcher(
        "accelerate",
        _options(
            "--multi_gpu --multi-gpu --cpu --tpu --use_deepspeed --use_fsdp --use_megatron_lm --use_tp --use_xpu -m "
            "--module --no_python --debug -q --quiet --same_network --tpu_use_cluster --tpu_use_sudo -h --help "
            "--main_training_function_flag --dynamo_use_fullgraph --dynamo_use_dynamic --enable_cpu_affinity"
        ),
        words=1,
    ),
}
PYTHON_MODULES = {"torch.distributed.run", "torch.distributed.launch", "torch_npu.distributed.run"}
PYTHON_VALUED = _options("-X -W --check-hash-based-pycs")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A command with its wrappers taken off."""

    words: list[Word]
    wrappers: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    container: bool


def _skip_wrapper(words: list[Word], wrapper: Wrapper) -> tuple[list[Word], list[tuple[str, str]]]:
    rest, env, plain = words[1:], [], wrapper.skip
    while rest:
        text = rest[0].text
        if text == "--":
            rest = rest[1:]
            break
        if text.startswith("-") and len(text) > 1:
            rest = rest[2:] if text in wrapper.valued else rest[1:]
        elif wrapper.assigns and "=" in text and text.partition("=")[0].isidentifier():
            name, _, given = text.partition("=")
            env.append((name, given))
            rest = rest[1:]
        elif plain:
            plain -= 1
            rest = rest[1:]
        else:
            break
    return rest, env


def strip_wrappers(words: list[Word]) -> Stripped:
    """Take off ``nohup``, ``stdbuf -oL``, ``env A=B``, ... until the program itself stands first."""
    names: list[str] = []
    env: list[tuple[str, str]] = []
    container = False
    while words and len(names) < 12:
        name = Path(words[0].text).name
        wrapper = WRAPPERS.get(name)
        if wrapper is None or not words[0].known:
            break
        if wrapper.container and (len(words) < 2 or words[1].text not in {"exec", "run", "compose"}):
            break
        words, more = _skip_wrapper(words, wrapper)
        names.append(name)
        env += more
        container = container or wrapper.container
    return Stripped(words, tuple(names), tuple(env), container)


def _is_python(name: str) -> bool:
    return name in {"python", "python3", "python2"} or (name.startswith("python3.") and name[8:].isdigit())


def _split(words: list[Word], flags: frozenset[str]) -> tuple[dict[str, Word | None], list[Word]]:
    """Launcher options and what follows them. An option whose value is gone (an unset variable) has None."""
    options: dict[str, Word | None] = {}
    at = 0
    while at < len(words) and words[at].text.startswith("-") and len(words[at].text) > 1:
        text = words[at].text
        name, equals, _ = text.partition("=")
        key = name.lstrip("-").replace("-", "_")
        if equals:
            options[key] = tail(words[at], len(name) + 1)
            at += 1
        elif name in flags:
            options[key] = None
            at += 1
        elif at + 1 < len(words) and not words[at + 1].text.startswith("--"):
            options[key] = words[at + 1]
            at += 2
        else:
            options[key] = None
            at += 1
    return options, words[at:]


def tail(word: Word, start: int) -> Word:
    """The part of a word from character ``start`` on, positions kept."""
    from dataclasses import replace

    pieces, position = [], 0
    for piece in word.pieces:
        begin = max(start - position, 0)
        position += len(piece.text)
        if begin >= len(piece.text):
            continue
        if begin == 0:
            pieces.append(piece)
            continue
        text = piece.text[begin:]
        span = piece.span
        if span is not None:
            size = len(text.encode("utf-8", "surrogateescape"))
            span = Span(span.path, span.end - size, span.end, span.line)
        pieces.append(replace(piece, text=text, span=span))
    return Word(tuple(pieces), word.known, word.line, None)


def _python_call(words: list[Word]) -> tuple[str, dict[str, Word | None], list[Word]] | None:
    """``python [options] (script | -m module) args``; None for ``-c`` and for a program on stdin."""
    at = 1
    while at < len(words):
        text = words[at].text
        if text == "-m":
            if at + 1 >= len(words):
                return None
            module = words[at + 1].text
            if module in PYTHON_MODULES:
                options, rest = _split(words[at + 2 :], TORCH_FLAGS)
                return f"python -m {module}", options, rest
            return "python", {"m": words[at + 1]}, words[at + 1 :]
        if text == "-c" or text == "-":
            return None
        if not text.startswith("-"):
            return "python", {}, words[at:]
        at += 2 if text in PYTHON_VALUED else 1
    return None


def read_call(shell: Shell, words: list[Word], wrappers: tuple[str, ...]) -> LauncherCall | None:
    """A launcher call, or plain python; None for any other program."""
    name = Path(words[0].text).name
    launcher = LAUNCHERS.get(name)
    if launcher is not None:
        rest = words[1 + launcher.words :]
        if launcher.words and (len(words) < 2 or words[1].text != "launch"):
            return None
        options, rest = _split(rest, launcher.flags)
        shown = launcher.name
    elif _is_python(name):
        read = _python_call(words)
        if read is None:
            return None
        shown, options, rest = read
        if "/" in words[0].text and shell.record.python is None:
            shell.record.python = words[0].text
    else:
        return None
    if len(shell.record.calls) >= MAX_CALLS:
        return None
    span = words[0].span or shell.source.span(shell.source.tree.root_node)
    return LauncherCall(
        launcher=shown,
        launcher_span=span,
        words=tuple(words),
        options=options,
        entry=rest[0] if rest else None,
        entry_args=tuple(rest[1:]),
        cwd=shell.cwd,
        env=shell.exported(),
        wrappers=wrappers,
        background=shell.background,
        in_pipe=shell.in_pipe,
        certain=shell.certain,
        log_file=_log_path(shell),
        quoted=shell.source.quoted is not None,
    )


def _log_path(shell: Shell) -> Path | None:
    if shell.log is None or not shell.log.known or not shell.log.text or shell.log.text == "/dev/null":
        return None
    path = Path(shell.log.text)
    if path.is_absolute():
        return path
    return shell.cwd / path if shell.cwd else None
