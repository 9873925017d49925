"""``collect SCRIPT``: the whole job in a terminal, with the tools' own functions."""

import argparse
import sys
import time
from typing import Any, get_args

import anyio

from mindspeed_mm_train_profiler.errors import CodedError
from mindspeed_mm_train_profiler.options import Acknowledgement
from mindspeed_mm_train_profiler.skill import wording
from mindspeed_mm_train_profiler.skill.flow import Flow
from mindspeed_mm_train_profiler.skill.questions import Facts
from mindspeed_mm_train_profiler.skill.wording import text
from mindspeed_mm_train_profiler.terminal import commands
from mindspeed_mm_train_profiler.terminal.ask import Asker, Declined, converse, make_asker
from mindspeed_mm_train_profiler.terminal.commands import say, specs
from mindspeed_mm_train_profiler.terminal.live import Live
from mindspeed_mm_train_profiler.terminal.speech import rendered
from mindspeed_mm_train_profiler.tools.common import Result, error_info, resolve_language, visible

POLL_WAIT_S = 2.0
ACKNOWLEDGED: dict[str, str] = {name: name for name in get_args(Acknowledgement)} | {
    "paths_missing": "missing_paths",
    "all_ranks_not_acknowledged": "all_ranks",
    "long_window_not_acknowledged": "long_window",
    "every_step_not_acknowledged": "long_window",
    "disk_too_small": "large_data",
}
"""Error code -> the acknowledgement that lets a build go on."""
OVERRIDABLE = {
    "npu_busy",
    "npu_unavailable",
    "too_few_npus",
    "torch_npu_unavailable",
    "driver_refuses",
    "port_in_use",
    "save_disk_too_small",
    "profiler_disabled",
    "other_nodes",
    "originals_changed",
    "shared_memory_present",
}
"""Refusals of a launch that a user may overrule (``launch_training`` override)."""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser("collect", help="the whole job: ask, build, launch, follow, verify")
    parser.add_argument("script")
    parser.add_argument("--workdir")
    parser.add_argument("--script-args", action="append", metavar="VALUE")
    parser.add_argument("--language", choices=["zh", "en"], default=None)
    parser.add_argument("--yes", action="store_true", help="take every default and confirm the table")
    parser.add_argument("--override", action="append", metavar="CODE", help="launch in spite of this refusal")
    parser.add_argument("--acknowledge", action="append", metavar="NAME", help="what the build may go on in spite of")
    parser.set_defaults(run_other=run)


class Job:
    """One collection, step by step; each step prints what its tool says."""

    def __init__(self, parsed: argparse.Namespace) -> None:
        self.parsed = parsed
        self.language: wording.Language = resolve_language(parsed.language)
        self.asker: Asker = make_asker(self.language)
        self.place = {
            name: value
            for name, value in (("workdir", parsed.workdir), ("script_args", parsed.script_args))
            if value is not None
        }

    def call(self, tool: str, **arguments: Any) -> Any:
        function = specs()[tool].function
        return commands.call(function, {**arguments, "language": self.language})

    def show(self, result: Result, goes_on: bool = True) -> Any:
        """Print a result; its next step only where this command does not take that step itself."""
        shown = result.model_copy(update={"next_step": None}) if goes_on else result
        say(visible(rendered(shown, self.language)))
        say("")
        return result

    def run(self) -> int:
        detected = self.call("detect_engine", script=self.parsed.script, **self.place)
        self.show(detected, goes_on=detected.engine != "unsupported")
        if detected.engine == "unsupported":
            return commands.NOT_GOOD
        environment = self.call("check_env", script=self.parsed.script, **_only(self.place, "workdir"))
        self.show(environment, goes_on=environment.ready)
        if not environment.ready:
            return commands.NOT_GOOD
        built = self.build(self.choose(detected))
        if built is None:
            return commands.NOT_CONFIRMED
        launched = self.launch(built.config_id)
        ended = self.follow(launched.run_id)
        if ended is None:
            say(text(self.language, "collect.detached", run_id=launched.run_id))
            return commands.GOOD
        return self.judge(launched.run_id)

    def choose(self, detected: Any) -> dict[str, Any]:
        """The answers to the questions, as options."""
        facts = Facts(
            engine=detected.engine,
            dynamic=detected.capabilities.dynamic,
            analyse_flag=detected.capabilities.analyse_flag,
            warmup_steps=detected.capabilities.warmup_steps,
            world_size=detected.world_size,
            train_iters=detected.train_iters.value,
            current_profile=detected.current_profile,
        )
        given: dict[str, Any] = {"rest": "default"} if self.parsed.yes else {}
        flow = converse(self.asker, self.language, Flow.start(facts, given))
        options = flow.options().model_dump(exclude_unset=True)
        if self.parsed.acknowledge:
            options["acknowledge"] = self.parsed.acknowledge
        return options

    def build(self, options: dict[str, Any]) -> Any | None:
        """Show the table, ask, build, show the diff. None: not confirmed."""
        from mindspeed_mm_train_profiler.options import ProfileOptions

        while True:
            chosen = ProfileOptions(**options)
            arguments = {"script": self.parsed.script, "options": chosen, **self.place}
            try:
                self.show(self.call("build_config", **arguments))
                break
            except CodedError as error:
                name = ACKNOWLEDGED.get(error.code)
                if name is None or name in options.get("acknowledge", []):
                    raise
                self.insist(error, f"--acknowledge {name}")
                options = {**options, "acknowledge": [*options.get("acknowledge", []), name]}
        if not self.parsed.yes and not self.asker.yes(text(self.language, "collect.confirm")):
            return None
        return self.show(self.call("build_config", **arguments, confirmed=True))

    def launch(self, config_id: str) -> Any:
        """Launch; a refusal that may be overridden is put to the user, one after the other."""
        override = list(self.parsed.override or [])
        while True:
            try:
                return self.show(self.call("launch_training", config_id=config_id, override=override))
            except CodedError as error:
                if error.code in override or error.code not in OVERRIDABLE:
                    raise
                self.insist(error, f"--override {error.code}")
                override.append(error.code)

    def insist(self, error: CodedError, flag: str) -> None:
        """Ask whether to go on in spite of ``error``. Errors: ``error`` itself with ``--yes``, naming the flag."""
        info = error_info(self.language, error)
        if self.parsed.yes:
            sys.stderr.write(text(self.language, "collect.flag", flag=flag) + "\n")
            raise error
        say(text(self.language, "common.error", code=info.code, message=visible(info.message)))
        if not self.asker.yes(text(self.language, "collect.insist", flag=flag)):
            raise error

    def follow(self, run_id: str) -> Any | None:
        """Follow a run to its end; None where the user left it running."""
        function = specs()["poll_status"].function
        cursor: int | None = None
        live = Live(self.language)
        try:
            while True:
                try:
                    status = anyio.run(
                        lambda: function(run_id=run_id, cursor=cursor, wait_s=POLL_WAIT_S, language=self.language)  # noqa: B023
                    )
                    live.update(status)
                    cursor = status.cursor
                    if status.state not in {"starting", "running"}:
                        live.close()
                        return self.show(status)
                except KeyboardInterrupt:
                    live.close()
                    if self.interrupted(run_id):
                        return None
        finally:
            live.close()

    def interrupted(self, run_id: str) -> bool:
        """Ctrl-C: leave the run alone (True), or stop it (False: its end is followed)."""
        from mindspeed_mm_train_profiler.terminal.ask import Choice

        options = [
            Choice(name, text(self.language, f"collect.{name}"), name == "detach") for name in ("detach", "stop")
        ]
        try:
            answer = self.asker.one(text(self.language, "collect.interrupted"), options)
        except (Declined, KeyboardInterrupt):
            return True
        if answer == "stop":
            self.show(self.call("stop_training", run_id=run_id))
            time.sleep(0.1)
            return False
        return True

    def judge(self, run_id: str) -> int:
        verdict = self.call("verify_output", run_id=run_id)
        good = verdict.verdict == "complete"
        self.show(verdict, goes_on=good)
        if good:
            self.show(self.call("summarize_profile", run_id=run_id), goes_on=False)
        return commands.GOOD if good else commands.NOT_GOOD


def _only(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


def run(parsed: argparse.Namespace) -> int:
    """Run the command; expected failures are told with their code."""
    job = Job(parsed)
    try:
        return job.run()
    except CodedError as error:
        return commands.tell_failure(job.language, error, as_json=False)
    except Declined:
        sys.stderr.write(text(job.language, "collect.declined") + "\n")
        return commands.NOT_CONFIRMED
