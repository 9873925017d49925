"""Failure signatures as data: what a log line says, in which phase, whether it is a root or a consequence.

Cause and fix stand in the catalogues under ``diagnosis.<code>.cause`` and ``.fix``. A row's ``rank``: 1 names a cause, 2
a likely cause, 3 is only a consequence (shown when nothing better is found), 4 one of a consequence. ``source``: where the wording was met.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Signature:
    code: str
    pattern: "re.Pattern[str]"
    rank: int
    source: str
    quick: tuple[str, ...]
    """One of these must be in the line before the pattern is tried."""


def _row(code: str, pattern: str, rank: int, source: str, *quick: str) -> Signature:
    return Signature(code, re.compile(pattern), rank, source, quick)


SIGNATURES: tuple[Signature, ...] = (
    _row("profiler_env_disabled", r"Environment variable '(PROFILING_MODE|PROFILER_SAMPLECONFIG)' is set|profiler api is not effective", 1, "torch_npu profiler/_utils.py", "profiler api", "Environment variable"),
    _row("msprof_missing", r"'msprof' command not found|ERR04008", 1, "torch_npu profiler _cann_export.py", "msprof", "ERR04008"),
    _row("parse_failed", r"Task \[\w+\] run failed|Failed to export CANN [Pp]rofiling data|Failed to get acl to npu flow events", 2, "torch_npu profiler analysis", "run failed", "Failed to"),
    _row("npu_data_missing", r"ProfilerActivity\.NPU is set in activities, but CANN Profiling data does not exist", 1, "torch_npu _profiler_config.py", "ProfilerActivity.NPU"),
    _row("cpu_data_missing", r"ProfilerActivity\.CPU is set in activities, but FWK Profiling data does not exist", 1, "torch_npu _profiler_config.py", "ProfilerActivity.CPU"),
    _row("window_cut", r"Incorrect schedule: Stop profiler while current state is (RECORD|WARMUP)|Stop profiler while current state is RECORD_AND_SAVE", 1, "torch_npu _profiler_action_controller.py", "Stop profiler while"),
    _row("window_corrected", r"Invalid parameter (active|skip_first|warmup|repeat|wait), reset it", 1, "torch_npu scheduler.py", "Invalid parameter"),
    _row("daemon_parse", r"cannot be parsed during the daemon process", 1, "torch_npu profiler", "daemon process"),
    _row("dynamic_unsupported", r"profile_type only supports static", 1, "MindSpeed-MM fsdp/tools/profiler.py", "profile_type only supports"),
    _row("profiler_value_invalid", r"profiler_level only supports|aic_metrics_type only supports|profile_type only supports static and dynamic", 1, "MindSpeed-MM tools/profiler.py", "only supports"),
    _row("profile_key_missing", r"'ConfigReader' object has no attribute '?(\w+)", 1, "MindSpeed-MM configs/config.py", "ConfigReader"),
    _row("profile_key_unknown", r"__init__\(\) got an unexpected keyword argument '?(\w+)", 2, "MindSpeed-MM 26.0.0 fsdp params", "unexpected keyword argument"),
    _row("config_validation", r"ConfigValidationError|pydantic_core\._pydantic_core\.ValidationError", 1, "MindSpeed-MM 26.1.0 config", "ConfigValidationError", "pydantic_core"),
    _row("dynamic_path_invalid", r"The path '.*' is invalid, and profiler will not be enabled", 1, "torch_npu dynamic_profile.py", "profiler will not be enabled"),
    _row("dynamic_shm_stale", r"There may exist shared memory before this task", 1, "torch_npu dynamic_profile", "shared memory before"),
    _row("dynamic_not_effective", r"Dynamic Profiler config is not effective", 1, "torch_npu dynamic_profile", "not effective"),
    _row("cann_not_sourced", r"lib(hccl|ascendcl|ge_runner|runtime|msprofiler|acl\w*)\.so: cannot open shared object file|No module named 'acl'|ERR00008 PTA resource not found|Please run 'source set_env\.sh'", 1, "MindSpeed-MM FAQ; torch_npu import", "cannot open shared object", "No module named 'acl'", "ERR00008", "set_env.sh"),
    _row("driver_refuses", r"dcmi module initialize failed|ret is -80\d\d|DrvMngGetConsoleLogLevel failed", 1, "npu-smi; MindCluster FAQ", "dcmi", "DrvMng", "-80"),
    _row("torch_npu_missing", r"No module named 'torch_npu'", 1, "Python", "torch_npu"),
    _row("module_missing", r"ModuleNotFoundError: No module named '(?!torch_npu|acl)([\w.]+)'", 1, "Python", "ModuleNotFoundError"),
    _row("previous_process_alive", r"EJ0001|Maybe the last training process is running", 1, "CANN HCCL; LLaMA-Factory#3839", "EJ0001", "last training process"),
    _row("port_in_use", r"Address already in use|\[Errno 98\]|EADDRINUSE|\bEJ0003\b|bind\b.*\bport\b.*\bfailed", 1, "torch rendezvous; HCCL", "Address already in use", "Errno 98", "EADDRINUSE", "EJ0003", "bind"),
    _row("npu_out_of_memory", r"NPU out of memory|\bOutOfMemoryError|\bEL0004\b|Failed to allocate memory|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)\W{0,4}207018\b|\b200000\b.*alloc", 1, "torch_npu; CANN EL0004", "out of memory", "OutOfMemory", "EL0004", "allocate memory", "207018", "200000"),
    _row("host_out_of_memory", r"oom[-_ ]kill(?:er|ed|:)|oom_reaper|Out of memory: Killed|Cannot allocate memory|\[Errno 12\]|\bMemoryError\b", 1, "Linux", "oom", "Out of memory: Killed", "Cannot allocate memory", "Errno 12", "MemoryError"),
    _row("dataloader_killed", r"DataLoader worker \(pid[^)]*\) is killed by signal", 2, "torch DataLoader", "DataLoader worker"),
    _row("shared_memory_small", r"insufficient shared memory|unable to (open|mmap|write).*shm|No space left on device.*/dev/shm", 2, "torch", "shared memory", "shm"),
    _row("disk_full", r"No space left on device|\[Errno 28\]|ENOSPC|Disk quota exceeded", 1, "Linux", "No space left", "Errno 28", "ENOSPC", "quota exceeded"),
    _row("hccl_timeout", r"\bEI000[26]\b|Watchdog caught collective operation timeout|(?i:(?:\bhccl\w*|\bnotify|\bsocket|\brecv|\bconnect\w*|\bcollective)\b.*\b(?:timed? ?out(?! ?(?:[=:]|is|set|value|to)\b)|times out|timeout (?:occurred|reached|error|after)))", 2, "CANN HCCL EI0002/EI0006; torch_npu watchdog", "EI000", "imed out", "ime out", "imeout", "imes out", "TIMEOUT"),
    _row("hccl_config", r"\b(?:EI0001|EI0003|EI0004|EI0005|EI0007|EJ0004)\b", 1, "CANN HCCL EI0001-EI0007", "EI000", "EJ0004"),
    _row("device_fault", r"\b(?:EL0003|EL0005|EZ9999)\b|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)\W{0,4}507\d{3}\b|(?i:aicore (?:execution )?(?:timeout|exception|error)\b(?!\W{1,3}(?:0|none)\b))|ACL stream synchronize failed", 2, "CANN", "EL000", "EZ9999", "507", "aicore", "AICORE", "AiCore", "ACL stream"),
    _row("operator_missing", r"\b(?:EZ3002|EZ1001|E10007|EE1001|E40021)\b|(?i:error).*(?:Op|operator) .* not supported|(?:Error|error).*does not support .*dtype|not implemented for 'PrivateUse1'", 2, "CANN error codes", "EZ3002", "EZ1001", "E10007", "EE1001", "E40021", "not support", "PrivateUse1"),
    _row("device_busy_or_absent", r"\b(?:EE1002|EE9999)\b|(?:rt|aclrt)SetDevice\w*.*(?i:fail|error)|Invalid device ID|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)\W{0,4}107001\b|device .*is (?:not available|abnormal)", 2, "CANN", "EE1002", "EE9999", "SetDevice", "device ID", "107001", "abnormal", "not available"),
    _row("checkpoint_failed", r"SavePlan = |SavePlan.*(?i:error|fail)|save_checkpoint.*(?:Error|failed)|Failed to save checkpoint|CheckpointException", 2, "torch DCP; Megatron", "SavePlan", "checkpoint", "CheckpointException"),
    _row("file_missing", r"FileNotFoundError: |\[Errno 2\] No such file or directory: '|can't open file '", 1, "Python", "No such file or directory", "FileNotFoundError", "can't open file"),
    _row("launcher_missing", r"/record: (?:line )?\d+: .*(?:not found|[Pp]ermission denied|No such file)", 1, "the recorder's shell: dash, bash", "/record: "),
    _row("rendezvous_timeout", r"Timed out after \d+ seconds waiting for clients|RendezvousTimeoutError|wait timeout after \d+ms", 1, "torch TCPStore, rendezvous", "waiting for clients", "RendezvousTimeout", "wait timeout after"),
    _row("shell_error", r": line \d+: .*(?:command not found|syntax error|unbound variable|No such file or directory$)", 2, "bash", "line "),
    _row("permission_denied", r"PermissionError: \[Errno 13\]|\[Errno 13\] Permission denied|line \d+: .*: Permission denied", 1, "Python, bash", "PermissionError", "Permission denied"),
    _row("arguments_refused", r"error: (unrecognized arguments|the following arguments are required|argument .*: invalid|ambiguous option)", 1, "argparse", "error: "),
    _row("assertion", r"^\s*(?:\[rank\d+\]:\s*)?AssertionError", 2, "Python", "AssertionError"),
    _row("value_error", r"^\s*(?:\[rank\d+\]:\s*)?(ValueError|TypeError|KeyError|AttributeError|IndexError|RuntimeError|ImportError|NotImplementedError)\b: ", 2, "Python", "Error:"),
    _row("segfault", r"exitcode\s*:\s*-11\b|\bSIGSEGV\b|Segmentation fault", 2, "torchrun; vllm-ascend#15697", "-11", "SIGSEGV", "Segmentation fault"),
    _row("killed", r"exitcode\s*:\s*-9\b|\bSIGKILL\b", 3, "torchrun", "-9", "SIGKILL"),
    _row("terminated", r"exitcode\s*:\s*-15\b|\bSIGTERM\b", 4, "torchrun", "-15", "SIGTERM"),
    _row("distributed_call_failed", r"ERR02\d{3} DIST|HCCL error in", 3, "torch_npu ERR02xxx", "ERR02", "HCCL error"),
    _row("child_failed", r"ChildFailedError|The node has been aborted|Other rank.*failed", 3, "torchrun; msrun", "ChildFailedError", "aborted", "failed"),
)  # fmt: skip
RANKED = re.compile(r"\[?(?:rank|Rank|default|RankID:)\s?:?(\d{1,5})\]?")


QUIET = re.compile(r"^(?!.{0,80}?\b(?:ERROR|CRITICAL|FATAL|Error)\b).{0,80}?(?:\b(?:INFO|DEBUG)\b|\[(?:info|debug)\])")
ABOUT_PROFILE = ("profil", "parse_", "msprof", "npu_data", "cpu_data", "window_", "dynamic_", "daemon_parse")
"""Signatures that concern the profile: worth telling of a run that did well, and from lines of any level."""


def match(line: str) -> Iterator[Signature]:
    """Signatures that a line shows. A line that says of itself that it is information names no cause of a failure."""
    quiet = QUIET.match(line) is not None
    for signature in SIGNATURES:
        if quiet and not signature.code.startswith(ABOUT_PROFILE):
            continue
        if any(word in line for word in signature.quick) and signature.pattern.search(line):
            yield signature


def rank(line: str) -> int | None:
    """The rank a line names, where it does."""
    found = RANKED.search(line)
    return int(found[1]) if found else None


BY_CODE = {signature.code: signature for signature in SIGNATURES}
HARMLESS_WHEN_GOOD = {"value_error", "assertion", "child_failed", "terminated", "distributed_call_failed"}


def judged(findings: Iterable[dict[str, Any]], *, failed: bool) -> list[dict[str, Any]]:
    """Findings in the order of their worth: causes first, consequences only when nothing better was found.

    Of a run that did not fail only what concerns the profile is told.
    """
    rows = [item for item in findings if item.get("code") in BY_CODE]
    if not failed:
        return [item for item in rows if str(item["code"]).startswith(ABOUT_PROFILE)]
    rows.sort(key=lambda item: (BY_CODE[item["code"]].rank, item["line"]))
    causes = [item for item in rows if BY_CODE[item["code"]].rank < 3]
    firm = [item for item in causes if BY_CODE[item["code"]].rank == 1]
    return (firm or causes or rows)[:5]
