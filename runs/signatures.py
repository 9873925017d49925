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


BEFORE = (
    r"(?:\s|\[[^\]]{0,80}\]:?|\([^()]{0,80}\bpid=[^()]{0,80}\)|(?:default|worker|node|rank)-?\d+:|\d[\d:,.T/+-]*(?=\s)"
    r"|(?:ERROR|CRITICAL|FATAL)\b:?|=>|[|-])*"
)
"""What torchrun, ray and loggers put before the last line of a traceback: ranks, times, levels. Each piece can be read
in one way only: a long line costs no more than its length."""

SIGNATURES: tuple[Signature, ...] = (
    _row("profiler_env_disabled", r"Environment variable '(PROFILING_MODE|PROFILER_SAMPLECONFIG)' is set|profiler api is not effective", 1, "torch_npu profiler/_utils.py", "profiler api", "Environment variable"),
    _row("msprof_missing", r"'msprof' command not found|ERR04008", 1, "torch_npu profiler _cann_export.py", "msprof", "ERR04008"),
    _row("parse_failed", r"Task \[\w+\] run failed|Failed to export CANN [Pp]rofiling data|Failed to get acl to npu flow events", 2, "torch_npu profiler analysis", "run failed", "Failed to"),
    _row("npu_data_missing", r"ProfilerActivity\.NPU is set in activities, but CANN Profiling data does not exist", 1, "torch_npu _profiler_config.py", "ProfilerActivity.NPU"),
    _row("cpu_data_missing", r"ProfilerActivity\.CPU is set in activities, but FWK Profiling data does not exist", 1, "torch_npu _profiler_config.py", "ProfilerActivity.CPU"),
    _row("window_cut", r"Incorrect schedule: Stop profiler while current state is (RECORD|WARMUP)|Stop profiler while current state is RECORD_AND_SAVE", 1, "torch_npu _profiler_action_controller.py", "Stop profiler while"),
    _row("window_corrected", r"Invalid parameter (active|skip_first|warmup|repeat|wait), reset it", 1, "torch_npu scheduler.py", "Invalid parameter"),
    _row("profiler_call_failed", r"\[ERROR\].*: Call \w+ failed\. Exception: |Create Prof Config failed|Profiling (?:start|warmup) failed|aclprof\w+ ?(?:\(\))? ?fail|is not a directory or is not writable|ERR04\d{3} PROF|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)(?:\W{0,4}| is )(?:507021|500005|200007)\b", 2, "torch_npu prof_common_func/_utils.py, csrc/profiler", "failed. Exception: ", "Prof Config", "Profiling ", "aclprof", "not writable", "ERR04", "507021", "500005", "200007"),
    _row("daemon_parse", r"cannot be parsed during the daemon process", 1, "torch_npu profiler", "daemon process"),
    _row("dynamic_unsupported", r"profile_type only supports static(?! and)", 1, "MindSpeed-MM fsdp/tools/profiler.py", "profile_type only supports"),
    _row("profiler_value_invalid", r"profiler_level only supports|aic_metrics_type only supports|profile_type only supports static and dynamic", 1, "MindSpeed-MM tools/profiler.py", "only supports"),
    _row("profile_key_missing", r"'ConfigReader' object has no attribute '?(\w+)", 1, "MindSpeed-MM configs/config.py", "ConfigReader"),
    _row("profile_key_unknown", r"__init__\(\) got an unexpected keyword argument '?(\w+)", 2, "MindSpeed-MM 26.0.0 fsdp params", "unexpected keyword argument"),
    _row("config_validation", r"ConfigValidationError|pydantic_core\._pydantic_core\.ValidationError", 1, "MindSpeed-MM 26.1.0 config", "ConfigValidationError", "pydantic_core"),
    _row("dynamic_path_invalid", r"The path '.*' is invalid, and profiler will not be enabled", 1, "torch_npu dynamic_profile.py", "profiler will not be enabled"),
    _row("dynamic_shm_stale", r"There may exist shared memory before this task", 1, "torch_npu dynamic_profile", "shared memory before"),
    _row("dynamic_not_effective", r"Dynamic Profiler config is not effective", 1, "torch_npu dynamic_profile", "not effective"),
    _row("cann_not_sourced", r"lib(?:hccl|ascend\w*|ge_\w+|runtime|msprofiler|acl\w*|opapi\w*|graph\w*|c_sec|mmpa|error_manager|register)\.so[\d.]*: cannot open shared object file|No module named 'acl'|ERR00008 PTA resource not found|[Pp]lease run 'source set_env\.sh'|(?<!Warning: )\bASCEND_\w+_PATH (?:environment variable )?is not set", 1, "MindSpeed-MM FAQ; torch_npu import", "cannot open shared object", "No module named 'acl'", "ERR00008", "set_env.sh", "_PATH "),
    _row("shared_object_missing", r"(?<!\w)(?!lib(?:hccl|ascend|ge_|runtime|msprofiler|acl|opapi|graph|c_sec|mmpa|error_manager|register))[\w.+-]+\.so[\d.]*: cannot open shared object file", 1, "ld.so", "cannot open shared object"),
    _row("shared_object_mismatch", r"undefined symbol: |version `[\w.]+' not found|cannot allocate memory in static TLS block", 1, "ld.so; torch_npu of another torch", "undefined symbol", "' not found", "static TLS"),
    _row("driver_refuses", r"dcmi module initialize failed|dcmi\w*.*\bret(?: is|:| =|=)? ?-80\d\d\b|\b[Dd]rv(?:Mng\w+|Get(?:DevNum|DevIDs|PlatformInfo)|DeviceOpen)\b.{0,60}\bfailed|/dev/davinci\w*.{0,60}Permission denied|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)(?:\W{0,4}| is )207006\b", 1, "npu-smi; MindCluster FAQ", "dcmi", "rvMng", "drvGet", "drvDevice", "207006", "/dev/davinci", "-80"),
    _row("torch_npu_missing", r"No module named 'torch_npu'", 1, "Python", "torch_npu"),
    _row("module_missing", r"ModuleNotFoundError: No module named '(?!torch_npu|acl)([\w.]+)'", 1, "Python", "ModuleNotFoundError"),
    _row("previous_process_alive", r"EJ0001|Maybe the last training process is running", 1, "CANN HCCL; LLaMA-Factory#3839", "EJ0001", "last training process"),
    _row("port_in_use", r"[Aa]ddress already in use|\[Errno 98\]|EADDRINUSE|\bE(?:J0003|I0019|I0020)\b|bind\b.{0,80}\bport\b.{0,80}\bfailed|ailed to bind the IP port|port\b.*\balready been bound", 1, "torch rendezvous; HCCL EI0019", "ddress already in use", "Errno 98", "EADDRINUSE", "EJ0003", "EI00", "bind", "bound"),
    _row("npu_out_of_memory", r"NPU out of memory|\bOutOfMemoryError(?::|\s*$)|\bE(?:L0004|I0011)\b|Failed to allocate memory|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)(?:\W{0,4}| is )(?:2070(?:01|05|18)|200000)\b|\b200000\b.*alloc|\[Error\]: (?:Failed to apply for memory|The memory on the device is exhausted)", 1, "torch_npu; CANN EL0004", "out of memory", "OutOfMemory", "EL0004", "EI0011", "allocate memory", "apply for memory", "is exhausted", "2070", "200000"),
    _row("host_out_of_memory", r"(?i:oom[-_ ]kill)(?:er|ed|:| events? in|\(s\)| event\(s\))|oom_reaper|Out of memory: Killed|: task [\d,\[\]-]+: Out Of Memory|Exceeded (?:job|step) memory limit|Cannot allocate memory|\[Errno 12\]|\b_?(?:Array)?MemoryError(?:\s*$|: )|std::bad_alloc", 1, "Linux; slurmstepd; numpy; libstdc++", "oom", "OOM", "Out of memory: Killed", "Out Of Memory", "memory limit", "Cannot allocate memory", "Errno 12", "MemoryError", "bad_alloc"),
    _row("dataloader_killed", r"DataLoader worker \(pid[^)]*\) is killed by signal(?!: Bus error)", 2, "torch DataLoader", "DataLoader worker"),
    _row("shared_memory_small", r"insufficient shared memory|out of shared memory|unable to (?:open|mmap|write|resize|allocate).*(?:shm|shared memory)(?!.*Too many open files)|No space left on device.*/dev/shm|killed by signal: Bus error|exitcode\s*:\s*-7\b|Signal 7 \(SIGBUS\)", 2, "torch", "shared memory", "shm", "Bus error", "-7", "SIGBUS"),
    _row("disk_full", r"^(?!.*(?:shared memory|/dev/shm)).*?(?:No space left on device|\[Errno 28\]|ENOSPC|Disk quota exceeded|\[Errno 122\]|设备上没有空间|超出磁盘限额)", 1, "Linux; coreutils in Chinese", "没有空间", "磁盘限额", "No space left", "Errno 28", "ENOSPC", "quota exceeded", "Errno 122"),
    _row("hccl_timeout", r"\bEI00(?:0[269]|15)\b|Watchdog caught collective operation timeout|(?i:^(?!.*(?:store->get|\[c10d\]|DistStoreError|DistNetworkError|errno:? 110)).*?(?:\bhccl\w*|\bnotify|(?<!client )\bsocket|\brecv|\bconnect\w*|\bcollective)\b.*\b(?:timed? ?out(?! ?(?:[=:(]|(?:is|set|value|to)\b))|times out|timeout (?:occurred|reached|error|after)))", 2, "CANN HCCL EI0002/EI0006/EI0009/EI0015; torch_npu watchdog", "EI00", "imed out", "ime out", "imeout", "imes out", "TIMEOUT"),
    _row("hccl_config", r"\b(?:EI000[134578]|EI001[467]|EJ0004)\b", 1, "CANN HCCL EI0001-EI0017", "EI00", "EJ0004"),
    _row("hccl_link", r"\bEI001[0238]\b|\b[Ee]rror (?:ROCE )?(?:cqe|CQE)\b|SDMA .{0,40}(?:error|exception)", 2, "CANN HCCL EI0010, EI0012, EI0013, EI0018", "EI001", "CQE", "cqe", "SDMA"),
    _row("device_fault", r"\b(?:EL0003|EL0005|E[Z3]9999)\b|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode|\bfailed)(?:\W{0,4}| is )507(?!008|021|033|057)\d{3}\b|(?i:(?:aicore|aivec|aivector|ai ?vector core) (?:execution |kernel )?(?:times out|is abnormal|timeout|exception|error)\b(?!\W{1,3}(?:0|none)\b))|ACL stream synchronize failed|The (?:vector core|aicore|aicpu) execution (?:is abnormal|times out)|Vector core execution timed out|scheduler loses the heartbeat|exception occurred during AICPU execution", 2, "CANN", "EL000", "9999", "507", " execution ", "the heartbeat", "aicore", "AICORE", "AiCore", "aivec", "AIVEC", "ACL stream"),
    _row("kernel_package_missing", r"binary_info_config\.json fail|opp_kernel package|opp version .{0,60}does not match", 1, "CANN EZ9999, E19999; vllm-ascend#573", "binary_info_config", "opp_kernel", "opp version"),
    _row("operator_missing", r"\b(?:EZ3002|EZ1001|E10007|E40021|E[68]9999)\b|(?i:error).*(?:Op|operator) .* not supported|(?:Error|error).*does not support .*dtype|not implemented for 'PrivateUse1'|from the 'PrivateUse1' backend|not in lib\w*opapi\.so|[Cc]ompile operator failed|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)(?:\W{0,4}| is )(?:161|561)\d{3}\b", 2, "CANN error codes", "EZ3002", "EZ1001", "E10007", "E40021", "E69999", "E89999", "not support", "PrivateUse1", "opapi.so", "ompile operator", "161", "561"),
    _row("device_busy_or_absent", r"\bEE1002\b|no valid device|ASCEND_RT_VISIBLE_DEVICES:\S* error|(?:rt|aclrt)SetDevice\w*.*(?i:fail|error)|Invalid device ID|(?i:error ?code|errcode|ret(?:code|val)?|result|\bcode)(?:\W{0,4}| is )(?:107001|200002|207004|507008|507033)\b|\[Error\]: (?:Failed to start the device|The device is unavailable|Invalid device)|device .*is (?:not available|unavailable|abnormal)", 2, "CANN", "EE1002", "valid device", "VISIBLE_DEVICES", "SetDevice", "device ID", "[Error]: ", "107001", "200002", "207004", "507008", "507033", "abnormal", "available"),
    _row("checkpoint_failed", r"SavePlan = |SavePlan.*(?i:error|fail)|save_checkpoint.*(?:Error|failed)|Failed to save checkpoint|CheckpointException|enforce fail at inline_container|unexpected pos \d+ vs \d+|PytorchStreamWriter failed", 2, "torch DCP, torch.save; Megatron", "SavePlan", "StreamWriter", "checkpoint", "CheckpointException", "inline_container", "unexpected pos"),
    _row("checkpoint_unreadable", r"in loading state_dict for|SafetensorError|PytorchStreamReader failed|UnpicklingError|invalid load key|EOFError: Ran out of input|Error: could not find arguments in the checkpoint|(?:Missing|Unexpected) key in (?:checkpoint|state_dict)", 1, "torch.load, safetensors; Megatron", "state_dict", "SafetensorError", "PytorchStreamReader", "UnpicklingError", "load key", "Ran out of input", "in the checkpoint", "key in checkpoint"),
    _row("model_files_missing", r"does not appear to have a file named|[Rr]epo id must be in the form|couldn't connect to 'https?://|is not a local folder and is not a valid model identifier|Can't load (?:tokenizer|the configuration|feature extractor|image processor|the model) for|no file named .* found in directory|LocalEntryNotFoundError|OfflineModeIsEnabled|host='huggingface\.co'", 1, "transformers, huggingface_hub", "LocalEntryNotFound", "OfflineModeIsEnabled", "huggingface.co", "file named", "epo id must", "couldn't connect", "not a local folder", "Can't load "),
    _row("limits_reached", r"\[Errno 24\]|Too many open files|can't start new thread|pthread_create failed|Resource temporarily unavailable|\[Errno 11\]", 1, "Linux ulimit -n, -u; cgroup pids", "Errno 24", "Too many open", "new thread", "pthread_create", "temporarily unavailable", "Errno 11]"),
    _row("storage_error", r"\[Errno (?:5|30|107|116|121)\]|Read-only file system|Stale file handle|Transport endpoint is not connected|: Input/output error", 1, "Linux", "[Errno ", "Read-only file", "Stale file", "Transport endpoint", "Input/output error"),
    _row("not_a_number", r"found (?:NaN|Inf|inf|nan) in (?:local )?(?:grad|loss)|Rank \d+: found NaN|Unexpected result nan|Loss is (?:nan|inf)", 1, "Megatron", "found ", "result nan", "Loss is"),
    _row("file_missing", r"FileNotFoundError: |NotADirectoryError: |(?:Dataset|DataFiles)NotFoundError: |\[Errno 2\] No such file or directory: '|can't open file '", 1, "Python; datasets", "No such file or directory", "NotFoundError", "NotADirectory", "can't open file"),
    _row("launcher_missing", r"/record: (?:line )?\d+: .*(?:not found|[Pp]ermission denied|No such file)|/record[:：] ?(?:行|第) ?\d+.*(?:未找到命令|权限不够|没有那个文件)", 1, "the recorder's shell: dash, bash", "/record"),
    _row("rendezvous_timeout", r"Timed out after \d+ seconds waiting for clients|Timed out initializing process group|RendezvousTimeoutError|wait timeout after \d+ms", 1, "torch TCPStore, rendezvous", "initializing process group", "waiting for clients", "RendezvousTimeout", "wait timeout after"),
    _row("rendezvous_unreachable", r"RendezvousConnectionError|connection to the C10d store has failed|client socket has timed out after|failed to connect to any network address|failed to listen on any local network address|failed to bind .{0,120}errno: 99\b|OSError: \[Errno 99\]|\(gai error: |Temporary failure in name resolution|Name or service not known", 2, "torch c10d", "RendezvousConnection", "C10d store", "client socket has timed", "any network address", "any local network address", "errno: 99", "Errno 99]", "gai error", "name resolution", "or service not known"),
    _row("shell_error", r": line \d+: .*(?:command not found|syntax error|unbound variable|No such file or directory$)|^(?!\S*/record: )\S+: \d+: \S+: (?:not found|parameter not set|Syntax error)|^(?:/usr/bin/)?env: .*No such file|^(?:/bin/)?(?:ba|da)?sh: .*(?:No such file or directory|not found)$|^(?!\S*/record[:：])[^\s:：]+[:：].*(?:未找到命令|没有那个文件或目录|未绑定的变量|未预期的|语法错误)", 2, "bash, dash, env; bash in Chinese", "未找到命令", "没有那个文件", "未绑定", "未预期", "语法错误", "line ", "not found", "parameter not set", "yntax error", "No such file"),
    _row("permission_denied", r"PermissionError: \[Errno 13\]|\[Errno 13\] Permission denied|line \d+: .*: Permission denied|^(?:mkdir|tee|touch|cp|mv|ln|cat|cd|env): .*Permission denied$|: (?:\d+: )?(?:cannot create|cannot open) .*: Permission denied|^(?!find[:：]|\S*/record[:：])\S+[:：].*权限不够$", 1, "Python, bash, coreutils; in Chinese", "权限不够", "PermissionError", "Permission denied"),
    _row("arguments_refused", r"error: (unrecognized arguments|the following arguments are required|argument .*: (?:invalid|expected|not allowed)|ambiguous option)", 1, "argparse", "error: "),
    _row("assertion", r"^\s*(?:\[rank\d+\]:\s*)?AssertionError", 2, "Python", "AssertionError"),
    _row("segfault", r"exitcode\s*:\s*-11\b|(?:Signal 11 \(|received |with )SIGSEGV|Segmentation fault|段错误", 2, "torchrun; vllm-ascend#15697", "-11", "SIGSEGV", "Segmentation fault", "段错误"),
    _row("aborted", r"exitcode\s*:\s*-(?:4|6|8)\b|Signal \d+ \(SIG(?:ABRT|ILL|FPE)\)|: line \d+: +\d+ (?:Aborted|Bus error|Illegal instruction|Floating point exception)|^Fatal Python error: (?!Segmentation)|terminate called ", 2, "torchrun; libstdc++", "-4", "-6", "-8", "SIG", "Aborted", "Bus error", "Illegal instruction", "Floating point", "Fatal Python", "terminate called"),
    _row("killed", r"exitcode\s*:\s*-9\b|(?:Signal 9 \(|received |with |closing signal )SIGKILL|: line \d+: +\d+ Killed\b|^Killed$|(?:^|\d )已杀死", 3, "torchrun; bash", "-9", "SIGKILL", "Killed", "已杀死"),
    _row("terminated", rf"^{BEFORE}KeyboardInterrupt\s*$|exitcode\s*:\s*-15\b|(?:Signal 15 \(|received |with |closing signal )SIGTERM|got signal: \d+", 4, "torchrun; Python", "KeyboardInterrupt", "-15", "SIGTERM", "got signal"),
    _row("distributed_call_failed", r"ERR02\d{3} DIST|\bEI9999\b|HCCL (?:function )?error(?: in)?:|SUSPECT REMOTE ERROR|store->get\(.*got error", 3, "torch_npu ERR02xxx; c10d; CANN EI9999", "ERR02", "EI9999", "HCCL ", "REMOTE ERROR", "store->get"),
    _row("native_call_failed", r"ERR00\d{3} PTA call|ERR01\d{3} OPS call|\b(?:E[EHG]9999|E[1259]9999|EE1001)\b|(?:NPU|OPS) (?:function )?error[:,] |The Inner error is reported as above|call aclnn\w+ failed", 3, "torch_npu ERR00100, ERR01100; CANN inner errors", "ERR0", "9999", "EE1001", "function error", "NPU error", "Inner error", "aclnn"),
    _row("child_failed", r"ChildFailedError|CalledProcessError: |The node has been aborted|Other rank.*failed", 3, "torchrun; msrun", "ChildFailedError", "CalledProcessError", "aborted", "failed"),
    _row("peer_gone", rf"^{BEFORE}(?:[A-Za-z_]\w*\.)*(?:EOFError\s*$|(?:ConnectionResetError|BrokenPipeError|RendezvousClosedError)(?::|\s*$)|(?:RuntimeError|DistNetworkError|DistStoreError): .{{0,80}}(?:[Cc]onnection (?:reset|closed) by peer|Broken pipe|Socket Timeout|Connection was likely closed))", 4, "Python multiprocessing; torch c10d", "EOFError", "ConnectionReset", "BrokenPipe", "RendezvousClosed", "by peer", "roken pipe", "Socket Timeout", "likely closed"),
    _row("job_cancelled", r"\bCANCELLED AT \S+ DUE TO ", 1, "slurmstepd", "CANCELLED AT"),
    _row("value_error", rf"^{BEFORE}(?:[A-Za-z_]\w*\.)*(?:[A-Z]\w*Error|(?:[A-Z]\w*)?Exception|StopIteration)(?::|\s*$)|^{BEFORE}(?:[A-Za-z_]\w*\.)+(?:[A-Z]\w*(?:Failed|Unsupported)|Error|Invalid): ", 2, "Python; torch._dynamo; voluptuous", "Error", "Exception", "StopIteration", "Failed: ", "Unsupported: ", "Invalid: "),
)  # fmt: skip
RANKED = re.compile(r"\[?(?:rank|Rank|default|RankID:)\s?:?(\d{1,5})\]?")


QUIET = re.compile(
    r"^(?!(?:\s|\[rank\d+\]:)*(?:\w+\.)*[A-Z]\w*(?:Error|Exception): )(?!.{0,80}?\b(?:ERROR|CRITICAL|FATAL|Error)\b).{0,80}?(?:\b(?:INFO|DEBUG)\b|\[(?:info|debug)\])"
)
SETTING = re.compile(
    r"^[^:=]{0,120}?(?<![a-z]Error)(?<![a-z]Exception)\s*(?:\.{2,}|[:=])\s*(?:False|True|None|0|0\.0|\[\]|'')\s*$"
)
"""``save_checkpoint_on_error ........ False``, ``aicore error count: 0``: a setting, or a count of nothing."""
NOISE = re.compile(
    r"^(?!.*\[rank\d).*(?:(?:\b(?:User|Future|Deprecation|Runtime|Import|Resource|Syntax)Warning: )"
    r"|Python is likely shutting down|This error log can be ignored)"
)
"""Python's own warnings quote errors that somebody has met and gone round; what an interpreter says while it ends."""
ABOUT_PROFILE = ("profil", "parse_", "msprof", "npu_data", "cpu_data", "window_", "dynamic_", "daemon_parse")
"""Signatures that concern the profile: worth telling of a run that did well, and from lines of any level."""


NAMELESS = "value_error"
"""An exception of any name: told of a line only that shows nothing better. Its row stands last."""


def match(line: str) -> Iterator[Signature]:
    """Signatures that a line shows. A line that says of itself that it is information names no cause of a failure."""
    quiet = any(kind.match(line) for kind in (QUIET, SETTING, NOISE))
    found = False
    for signature in SIGNATURES:
        if (quiet and not signature.code.startswith(ABOUT_PROFILE)) or (found and signature.code == NAMELESS):
            continue
        if any(word in line for word in signature.quick) and signature.pattern.search(line):
            found = True
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
    rows.sort(key=lambda item: (BY_CODE[item["code"]].rank, item.get("line") or 0))
    causes = [item for item in rows if BY_CODE[item["code"]].rank < 3]
    firm = [item for item in causes if BY_CODE[item["code"]].rank == 1]
    return (firm or causes or rows)[:5]
