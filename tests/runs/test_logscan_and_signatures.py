"""Logs: iterations in every variant, secrets, failure signatures with a sample each."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindspeed_mm_train_profiler.runs import redact, signatures
from mindspeed_mm_train_profiler.runs.logscan import Scan, clean, tail
from mindspeed_mm_train_profiler.runs.poll import tail_of
from mindspeed_mm_train_profiler.skill import wording

HEALTHY = """\
[INFO] loading configuration
UserWarning: HCCL doesn't support gather at the moment. Implemented with allgather instead.
 iteration        1/     20 | consumed samples: 8 | elapsed time per iteration (ms): 9000.5 | loss: 1.0E+00 |
 iteration        2/     20 | consumed samples: 16 | elapsed time per iteration (ms): 900.5 | loss: 9.0E-01 |
[2026-01-02 03:04:05] [WARNING] [77] profiler.py: Profiler won't be using warmup, this can skew profiler results
[2026-01-02 03:04:05] [INFO] [77] profiler.py: Start parsing profiling data in sync mode at: /x/h_1_2_ascend_pt
[2026-01-02 03:04:09] [INFO] [77] profiler.py: All profiling data parsed in a total time of 0:00:04
"""
VARIANTS = {
    "plain megatron": " iteration       12/     100 | consumed samples: 96 | elapsed time per iteration (ms): 71.5 |",
    "torchrun prefix": "[default0]: [2025-01-01 00:00:00] iteration        12/    100 | elapsed time per iteration (ms): 71.5 |",
    "no padding": " iteration  12/100 | consumed samples: 5 | elapsed time per iteration (ms):  71.5 | lr 1",
    "two numbers": " iteration       12/     100 | elapsed time per iteration (ms): 71.5/70.1 |",
    "fsdp2": "[Rank 0 | Local Rank 0] 2026-01-01 00:00:00 INFO =>  iteration       12/     100 | elapsed time per iteration (ms): 71.5 |",
    "coloured": "\x1b[32m iteration       12/     100 |\x1b[0m elapsed time per iteration (ms): 71.5 |",
    "behind a progress bar": "10%|#\r20%|##\r iteration       12/     100 | elapsed time per iteration (ms): 71.5 |",
    "before a progress bar": " iteration       12/     100 | elapsed time per iteration (ms): 71.5 |\r 50%|##",
    "behind a long progress bar": "\r".join(f" {i % 100}%|####|" for i in range(2000))
    + "\r iteration       12/     100 | elapsed time per iteration (ms): 71.5 |",
    "two ranks in a line": " iteration 11/ 100 | elapsed time per iteration (ms): 71.5 | iteration 12/ 100 | elapsed time per iteration (ms): 71.5 |",
    "milliseconds without a unit": "iteration       12/     100 | loss: 1.0E+00 | elapsed time per iteration: 71.5 | tokens",
    "a colon": "(Runner pid=3) iteration: 12 / 100 | timing: 1.0 | elapsed time per iteration (ms): 71.5 |",
    "seconds": " [2026-01-01 00:00:00] iteration       12/     100 | elapsed time per iteration (s): 0.071500 | x",
    "garbled by another rank": "Warning: x iteration       12/     100 | elapsed time per iteration (ms): 71.5 | Warn",
}
SAMPLES = {
    "profiler_env_disabled": "[WARNING] profiler.py: Environment variable 'PROFILING_MODE' is set. torch_npu profiler api is not effective.",
    "msprof_missing": "Export CANN Profiling data failed! 'msprof' command not found!Please re-source the CANN package",
    "profiler_call_failed": "2026-01-02 03:04:05 [ERROR] [77] profiler.py: Call start failed. Exception: [Errno 13] denied: './out'",
    "parse_failed": "[ERROR] [1] profiler.py: Task [SomeParser] run failed.",
    "npu_data_missing": "[ERROR] ProfilerActivity.NPU is set in activities, but CANN Profiling data does not exist.",
    "cpu_data_missing": "[ERROR] ProfilerActivity.CPU is set in activities, but FWK Profiling data does not exist.",
    "window_cut": "Incorrect schedule: Stop profiler while current state is RECORD which may result in incomplete parsed data.",
    "window_corrected": "[WARNING] profiler.py: Invalid parameter active, reset it to 1.",
    "daemon_parse": "The profiling data cannot be parsed during the daemon process, use offline",
    "dynamic_unsupported": "profile_type only supports static, but gets dynamic",
    "profiler_value_invalid": "profiler_level only supports level0, 1, and 2, but gets level9",
    "profile_key_missing": "'ConfigReader' object has no attribute 'dynamic_param'",
    "profile_key_unknown": "TypeError: Profiler.__init__() got an unexpected keyword argument 'dynamic_param'",
    "config_validation": "mindspeed_mm.config.errors.ConfigValidationError: tools.profile.ranks",
    "dynamic_path_invalid": "The path '/d/profiler_config.json' is invalid, and profiler will not be enabled.",
    "dynamic_shm_stale": "There may exist shared memory before this task. If you kill the last task",
    "dynamic_not_effective": "Dynamic Profiler config is not effective. The start_step=5, current_step=8",
    "cann_not_sourced": "libhccl.so: cannot open shared object file: No such file or directory. Please run 'source set_env.sh'",
    "driver_refuses": "dcmi module initialize failed. ret is -8005",
    "torch_npu_missing": "No module named 'torch_npu'",
    "module_missing": "ModuleNotFoundError: No module named 'einops'",
    "previous_process_alive": "EJ0001: Failed to initialize the HCCP process. Reason: Maybe the last training process is running.",
    "port_in_use": "OSError: [Errno 98] Address already in use",
    "npu_out_of_memory": "NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)",
    "host_out_of_memory": "kernel: Out of memory: Killed process 77 (python)",
    "dataloader_killed": "DataLoader worker (pid 5) is killed by signal: Killed.",
    "shared_memory_small": "This might be caused by insufficient shared memory (shm).",
    "disk_full": "[Errno 28] No space left on device",
    "hccl_timeout": "EI0002: The wait execution of the Notify register times out.",
    "hccl_config": "EI0005: The arguments for collective communication are inconsistent between ranks",
    "device_fault": "ACL stream synchronize failed, error code:507018",
    "operator_missing": "EZ3002: Optype [X] of Ops kernel is unsupported",
    "device_busy_or_absent": "call aclrtSetDevice failed, Invalid device ID",
    "checkpoint_failed": '    central_plan: SavePlan = distW.reduce_scatter("plan", a, b)',
    "file_missing": "[Errno 2] No such file or directory: '/data/none.json'",
    "launcher_missing": "/state/runs/run-1/record: 18: torchrun: not found",
    "rendezvous_timeout": "DistStoreError: Timed out after 901 seconds waiting for clients. 1/2 clients joined.",
    "shell_error": "train.sh: line 12: syntax error near unexpected token `done'",
    "permission_denied": "[Errno 13] Permission denied: '/data/x'",
    "arguments_refused": "pretrain_vlm.py: error: unrecognized arguments: --new-flag",
    "assertion": "AssertionError: world size (8) is not divisible",
    "value_error": "ValueError: batch size must be positive",
    "segfault": "  exitcode  : -11 (pid: 5)",
    "killed": "  exitcode  : -9 (pid: 208585)",
    "terminated": "  exitcode  : -15 (pid: 5)",
    "distributed_call_failed": "(PID:1, Device:3, RankID:3) ERR02200 DIST call hccl api",
    "child_failed": "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "shared_object_missing": "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
    "shared_object_mismatch": "ImportError: /x/libtorch_npu.so: undefined symbol: _ZN3c1017RegisterOperatorsD1Ev",
    "hccl_link": "Execution_Error_ROCE_CQE(EI0013): An error CQE occurred during operator execution.",
    "checkpoint_unreadable": "RuntimeError: Error(s) in loading state_dict for Model:",
    "model_files_missing": "OSError: /ckpt/m does not appear to have a file named config.json.",
    "limits_reached": "OSError: [Errno 24] Too many open files: '/data/x.jpg'",
    "storage_error": "OSError: [Errno 116] Stale file handle",
    "not_a_number": "RuntimeError: found NaN in local grad norm in backward pass. Device: 0",
    "rendezvous_unreachable": "DistNetworkError: The addresses of (node0, 6000) cannot be retrieved (gai error: -2 - x).",
    "aborted": "  exitcode  : -6 (pid: 5)",
    "kernel_package_missing": "        Get path and read binary_info_config.json failed, is the opp_kernel package there?",
    "peer_gone": "[rank1]: torch.distributed.DistNetworkError: Connection reset by peer",
    "job_cancelled": "slurmstepd: error: *** JOB 9 ON node1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***",
    "native_call_failed": "[ERROR] (PID:1, Device:0, RankID:-1) ERR00100 PTA call acl api failed.",
}


def scan(text: str) -> Scan:
    found = Scan()
    found.feed("log", text.encode())
    return found


@pytest.mark.parametrize("name", VARIANTS)
def test_iteration_lines(name: str) -> None:
    found = scan(VARIANTS[name] + "\n")
    assert (found.iteration, found.train_iters, found.milliseconds()) == (12, 100, 71.5)


def test_every_signature_has_its_sample_and_its_words() -> None:
    assert set(SAMPLES) == set(signatures.BY_CODE)
    for code in SAMPLES:
        for language in wording.LANGUAGES:
            assert wording.text(language, f"diagnosis.{code}.cause") and wording.text(language, f"diagnosis.{code}.fix")


@pytest.mark.parametrize("code", SAMPLES)
def test_a_sample_shows_its_signature_and_no_other(code: str) -> None:
    assert [signature.code for signature in signatures.match(SAMPLES[code])][:1] == [code]
    assert {signature.code for signature in signatures.match(SAMPLES[code])} - {code} <= ALLOWED_TOGETHER.get(
        code, set()
    )


ALLOWED_TOGETHER = {
    "profile_key_unknown": {"value_error"},
    "dynamic_unsupported": {"profiler_value_invalid"},
}
"""Lines that are two things at once."""


ALSO = {
    "hccl_timeout": [
        "RuntimeError: EI0006: Getting socket times out.",
        "[E] Watchdog caught collective operation timeout: WorkHCCL(SeqNum=5, OpType=ALLREDUCE)",
        "[ERROR] HCCL(77,python3): [Wait][Recv] socket timed out after 120s",
    ],
    "device_fault": [
        "aicore exception, core id 3",
        "call rtStreamSynchronize failed, retCode=507018",
        "EZ9999: Inner Error!",
        "RuntimeError: x:443 NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507014",
        "[Error]: The aicore execution times out.",
        "The error is an exception of aivec error",
        "[Error]: The vector core execution is abnormal.",
        "[Error]: The aicpu execution times out.",
        "[Error]: The task scheduler loses the heartbeat.",
        "EZ9903: [PID: 7] kernel launch failed: 507015",
        "E39999: [PID: 7] an exception occurred during AICPU execution, stream_id:3",
    ],
    "operator_missing": [
        "Error: Op X is not supported on this device",
        "EZ1001: bad dtype",
        "E89999: op[X], tiling failed",
        "RuntimeError: aclnnX or aclnnXGetWorkspaceSize not in libopapi.so, or libopapi.sonot found.",
        "RuntimeError: y:26 NPU function error: call aclnnInplaceZero failed, error code is 561103",
    ],
    "device_busy_or_absent": [
        "rtSetDevice execute failed, reason=[device busy]",
        "error code: 107001",
        "EE1001: The argument is invalid.Reason: set ASCEND_RT_VISIBLE_DEVICES:9 error, input data rang[0-4)",
        "get device count failed, runtime result = 207004.",
        "init soc version failed, ret = 507008",
        "[Error]: Failed to start the device.",
        "NPU function error: aclrtSetDevice(id), error code is 507033",
    ],
    "port_in_use": [
        "RuntimeError: get device info: Address already in use",
        "[ERROR] INFO: EADDRINUSE",
        "Communication_Error_Bind_IP_Port(EI0019): The IP address 10.0.0.1 and port 60000 have already been bound.",
        "[W socket.cpp:436] [c10d] The server socket has failed to bind to [::]:6000 (errno: 98 - address already in use).",
    ],
    "npu_out_of_memory": [
        "torch.OutOfMemoryError: NPU out of memory",
        "runtime result = 207018",
        "NPU function error: aclrtMalloc, error code is 207001",
        "NPU function error: aclrtCreate, error code is 207005",
        "NPU function error: aclMalloc, error code is 200000",
        "[Error]: Failed to apply for memory.",
    ],
    "permission_denied": ['mkdir: 无法创建目录 "/save": 权限不够', "train.sh: line 3: ./run.sh: Permission denied"],
    "host_out_of_memory": [
        "oom-kill:constraint=CONSTRAINT_MEMCG",
        "MemoryError",
        "slurmstepd: error: Detected 3 oom_kill events in StepId=9.0.",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=9.batch.",
        "srun: error: node1: task 0: Out Of Memory",
        "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 9.0 GiB for an array with shape (3, 3)",
        "  what():  std::bad_alloc",
    ],
    "driver_refuses": [
        "[ERROR] drvGetDevNum failed, ret=4",
        "open /dev/davinci_manager: Permission denied",
        "aclInit, error code is 207006",
    ],
    "shared_memory_small": [
        "RuntimeError: unable to open shared memory object </torch_7> in read-write mode: No space left on device (28)",
        "RuntimeError: DataLoader worker (pid 7) is killed by signal: Bus error. Workers are out of shared memory.",
        "  exitcode  : -7 (pid: 5)",
    ],
    "rendezvous_timeout": ["RuntimeError: Timed out initializing process group in store based barrier on rank: 3"],
    "peer_gone": ["EOFError", "BrokenPipeError: [Errno 32] Broken pipe", "RuntimeError: Connection closed by peer"],
    "kernel_package_missing": ["E19999 The opp version of the model does not match the current one"],
    "file_missing": ["datasets.exceptions.DatasetNotFoundError: Dataset '/data/x' doesn't exist on the Hub"],
    "native_call_failed": [
        "EE9999: Inner Error",
        "EH9999: Inner Error!",
        "EE1001: The argument is invalid.",
        "RuntimeError: x:200 OPS function error: Identity, error code is 500002",
    ],
    "cann_not_sourced": [
        "Exception: ASCEND_OPP_PATH environment variable is not set. If it is there, please run 'source set_env.sh'",
        "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory",
    ],
    "checkpoint_failed": [
        "RuntimeError: PytorchStreamWriter failed writing file data/7",
        "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 123 vs 122",
    ],
    "checkpoint_unreadable": [
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        "AssertionError: could not find arguments in the checkpoint",
        "EOFError: Ran out of input",
    ],
    "model_files_missing": [
        "HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': './ckpt/hf'",
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files",
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries",
    ],
    "limits_reached": [
        "RuntimeError: can't start new thread",
        "blas_thread_init: pthread_create failed for thread 12 of 64: Resource temporarily unavailable",
        "RuntimeError: unable to open shared memory object </torch_7> in read-write mode: Too many open files (24)",
    ],
    "storage_error": ["OSError: [Errno 30] Read-only file system: '/save'", "OSError: [Errno 5] Input/output error"],
    "rendezvous_unreachable": [
        "RendezvousConnectionError: The connection to the C10d store has failed.",
        "DistNetworkError: The client socket has timed out after 60000ms while trying to connect to (10.0.0.1, 6000).",
        "RuntimeError: The client socket has failed to connect to any network address of (10.0.0.1, 6000).",
        "[E socket.cpp:1] [c10d] The server socket has failed to bind to node0:6000 (errno: 99 - Cannot assign x).",
        "OSError: [Errno 99] Cannot assign requested address",
    ],
    "hccl_config": ["Config_Error_Ranktable(EI0014): the rank tables differ", "EI0008: CANN versions are inconsistent"],
    "hccl_link": ["EI0012: SDMA task exception"],
    "arguments_refused": [
        "pretrain_vlm.py: error: argument --num-layers: expected one argument",
        "pretrain_vlm.py: error: argument --fp16: not allowed with argument --bf16",
    ],
    "launcher_missing": ["/state/runs/run-1/record: 行 18: torchrun: 未找到命令"],
    "disk_full": ["cp: 写入 '/save/x' 时出错: 设备上没有空间"],
    "segfault": ["train.sh: 行 3: 77 段错误               (核心已转储) python3 x.py"],
    "shell_error": [
        "train.sh: 行 12: torchrun: 未找到命令",
        "train.sh：第 3 行：/opt/set_env.sh：没有那个文件或目录",
        "finetune.sh: 12: source: not found",
        "/usr/bin/env: 'python3.8': No such file or directory",
    ],
    "killed": [
        "train.sh: 行 40: 77 已杀死               torchrun x",
        "finetune.sh: line 40:    77 Killed                  torchrun $DISTRIBUTED_ARGS",
    ],
    "terminated": [
        "[rank3]: KeyboardInterrupt",
        "torch.distributed.elastic.multiprocessing.api.SignalException: Process 77 got signal: 15",
    ],
    "distributed_call_failed": [
        "DistBackendError: [3] is setting up HCCL communicator via c10d, but store->get('0') got error: Socket Timeout",
        "RuntimeError: SUSPECT REMOTE ERROR, error code is 507057",
        "EI9999: Inner Error!",
    ],
    "value_error": [
        "[rank0]: ZeroDivisionError: division by zero",
        "[default3]:[rank3]: ValueError: number of query heads",
        "default0: ValueError: x",
        "worker-1: ValueError: x",
        "[rank0]: Exception: x optimizer is not supported.",
        "[rank0]: RuntimeError: [NaN DEBUG] NaN detected at 'x'.",
        "binascii.Error: Incorrect padding",
        "StopIteration",
        "[rank0]: torch._dynamo.exc.BackendCompilerFailed: backend='x' raised:",
        "(TaskRunner pid=77) json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "2026-01-01 10:00:00,123 ERROR => ValueError: x",
        "PIL.UnidentifiedImageError: cannot identify image file '/data/x.jpg'",
    ],
    "profiler_call_failed": [
        "[ERROR] 2026-01-02-03:04:05 (PID:77) [profiler_mgr.cpp:119] Profiling start failed.",
        "aclprofInit failed, error code: 100000",
        "ERR04001 PROF invalid parameter",
        "NPU function error: aclrtSynchronizeStream, error code is 507021",
    ],
    "child_failed": ["subprocess.CalledProcessError: Command '['python']' returned non-zero exit status 1."],
}
HARMLESS = [
    "export HCCL_CONNECT_TIMEOUT=1200",
    "HCCL_EXEC_TIMEOUT: 1800, HCCL_BUFFSIZE: 200",
    "[INFO] HCCL connect timeout set to 1200 s",
    "hccl connect timeout is 120 s",
    " iteration 3/ 9 | loss: 5.507123E-01 | grad norm: 507.018 |",
    "consumed samples: 507018, tokens: 207018, seed 107001",
    "dataset length 200000, indices 507000",
    "UserWarning: The operator 'aten::nonzero' is not currently supported on the NPU backend and will fall back to the CPU",
    "Warning: Op fusion is not supported here, skipped",
    "find: '/root': Permission denied",
    "find: ‘/root’: 权限不够",
    "using device 3, aclrtSetDevice ok",
    "aicore error: 0",
    "oom_kill 0",
    "INFO: will raise ValueError: when the list is empty",
    "rank 3 exitcode  : -110",
    "SIGTERM handler installed; SIGKILL cannot be caught, SIGSEGV neither",
    "connect_timeout=120, socket timeout: 300",
    "HCCL notify wait time: 10, timeout: 1836",
    "raise_on_MemoryError=False",
    "  save_checkpoint_on_Error ....................... False",
    "save_checkpoint_on_Error: False",
    "aicore error count: 0",
    "  recv_timeout_error_handling .................... False",
    "  check_for_nan_in_loss_and_grad ................. True",
    "number of nan iterations:   0 | no ValueError: fine",
    "Loading checkpoint shards: 100%|####| 4/4",
    "could not find arguments in the checkpoint ...",
    "image.py:13: UserWarning: Failed to load image extension: 'libjpeg.so.99: cannot open shared object file: No such'",
    "[W socket.cpp:1] [c10d] The client socket has failed to connect to [::ffff:10.0.0.9]:6000 (errno: 110 - Connection timed out).",
    "[W socket.cpp:1] [c10d] The client socket has failed to connect to [localhost]:6000 (errno: 99 - Cannot assign requested address).",
    "[W socket.cpp:1] [c10d] The server socket has failed to bind to [::]:6000 (errno: 97 - Address family not supported).",
    "ImportError: sys.meta_path is None, Python is likely shutting down",
    "torch_npu.memory: [ERROR] [77] Get a block from the existing pool failed. This error log can be ignored.",
    "Warning: ASCEND_HOME_PATH environment variable is not set.",
    "OutOfMemoryError met while merging on the device, switching to the CPU",
    "BrokenPipeError when ending a helper that has ended",
    "[ERROR] TBE Subprocess[task_distribute] raise error[], main process disappeared!",
]


@pytest.mark.parametrize(("code", "line"), [(code, line) for code, lines in ALSO.items() for line in lines])
def test_other_wordings_of_a_cause(code: str, line: str) -> None:
    assert code in {signature.code for signature in signatures.match(line)}


def test_a_value_that_no_type_of_profile_has_is_not_taken_for_dynamic() -> None:
    line = "ValueError: profile_type only supports static and dynamic, but gets x"
    assert [signature.code for signature in signatures.match(line)] == ["profiler_value_invalid"]


@pytest.mark.parametrize("line", HARMLESS)
def test_lines_of_every_log_name_no_cause(line: str) -> None:
    assert [signature.code for signature in signatures.match(line)] == []


def test_a_healthy_log_gives_nothing() -> None:
    found = scan(HEALTHY)
    assert found.findings == []
    assert (found.parsing, found.parsed, found.iteration) == (1, 1, 2)


def test_causes_come_before_consequences() -> None:
    log = (
        "\n".join([SAMPLES["killed"], SAMPLES["child_failed"], SAMPLES["npu_out_of_memory"], SAMPLES["terminated"]])
        + "\n"
    )
    assert [item["code"] for item in signatures.judged(scan(log).findings, failed=True)] == ["npu_out_of_memory"]
    log = "\n".join([SAMPLES["child_failed"], SAMPLES["killed"]]) + "\n"
    assert {item["code"] for item in signatures.judged(scan(log).findings, failed=True)} == {"child_failed", "killed"}


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        (
            "device_fault",
            [
                "[rank0]: RuntimeError: x.ts:443 NPU function error: AclrtSynchronizeDevice, see below",
                "[ERROR] 2026-01-01 (PID:7, Device:0, RankID:0) ERR00100 PTA call acl api failed",
                "[Error]: The aicore execution times out.",
            ],
        ),
        ("hccl_timeout", ["[rank1]: RuntimeError: [1] HCCL error in: x.cpp, error code 6", "EI0006: Getting socket times out."]),
        ("value_error", ["[rank0]: KeyError: 'pixel_values'", "[rank1]: RuntimeError: HCCL error in: x.cpp", "EI0006: socket times out"]),
        ("value_error", ["[rank0]: KeyError: 'x'", "[rank1]: RuntimeError: operator(): NPU function error: SUSPECT REMOTE ERROR, error code is 507057"]),
        ("value_error", ["[rank1]: torch.distributed.DistNetworkError: Connection reset by peer", "[rank0]: KeyError: 'x'"]),
        ("value_error", ["[rank1]: torch.distributed.DistStoreError: Socket Timeout", "[rank0]: KeyError: 'x'"]),
        ("killed", ["EOFError", "  exitcode  : -9 (pid: 7)"]),
        ("hccl_timeout", ["worker-1: RuntimeError: sync:x.cpp:363 NPU error, error code is 107020", "worker-1: EI9999: Inner Error!", "worker-1: EI9999: hccl fftsplus task timeout occurred during task execution, timeout:1836"]),
        ("device_busy_or_absent", ["RuntimeError: init:x.ts:1 NPU function error: aclrtGetDeviceCount(&n), error code is 207004", "EE1001: The argument is invalid.Reason: set ASCEND_RT_VISIBLE_DEVICES:9 error"]),
    ],
    ids=["native call", "collective", "another rank first", "remote error", "a connection", "a store", "a pool", "a stuck notify", "no device"],
)  # fmt: skip
def test_an_exception_that_only_wraps_a_native_error_is_not_the_cause(code: str, lines: list[str]) -> None:
    assert signatures.judged(scan("\n".join(lines) + "\n").findings, failed=True)[0]["code"] == code


def test_a_long_line_costs_no_more_than_its_length() -> None:
    for piece in (
        "1 ",
        "[a]",
        "[",
        "1:1",
        "| ",
        "(pid=1)",
        "Error ",
        "hccl ",
        "bind port ",
        "x.so",
        "default1:",
        "-80 dcmi ",
    ):
        began = time.monotonic()
        list(signatures.match((piece * 8192)[:8192] + "Error EI00 socket imeout shm checkpoint"))
        assert time.monotonic() - began < 1, piece


def test_of_a_run_that_did_well_only_the_profile_matters() -> None:
    log = "\n".join([SAMPLES["value_error"], SAMPLES["msprof_missing"]]) + "\n"
    assert [item["code"] for item in signatures.judged(scan(log).findings, failed=False)] == ["msprof_missing"]


def test_a_log_is_read_once_and_again_when_it_was_rotated(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(VARIANTS["plain megatron"] + "\n", encoding="utf-8")
    found = Scan()
    assert found.read(path) is True
    assert found.read(path) is False
    with path.open("a", encoding="utf-8") as file:
        file.write(" iteration       13/     100 | elapsed time per iteration (ms): 71.5 |\n iteration       14/ ")
    found.read(path)
    assert found.iteration == 13  # the last line is not whole yet
    path.write_text(" iteration       2/     100 | x\n", encoding="utf-8")
    found.read(path)
    assert found.lines == 3
    path.unlink()
    assert found.read(path) is False


def test_a_log_that_was_moved_away_and_has_grown_again_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("x\n", encoding="utf-8")
    found = Scan()
    found.read(path)
    path.rename(tmp_path / "log.1")
    path.write_text("OSError: [Errno 98] Address already in use\n" + "y\n" * 9, encoding="utf-8")
    found.read(path)
    assert [item["code"] for item in found.findings] == ["port_in_use"]


def test_a_training_that_begins_again_is_followed() -> None:
    line = " iteration {:8d}/     100 | elapsed time per iteration (ms): 71.5 |\n"
    found = scan("".join(map(line.format, [1, 2, 3, 4, 5, 4, 6, 7])))
    assert (found.iteration, found.first_iteration) == (7, 1)  # another rank's line is no new beginning
    found.feed("log", "".join(map(line.format, [1, 2])).encode())
    assert (found.iteration, found.first_iteration) == (2, 1)
    found.feed("log", "".join(map(line.format, [90, 91, 51, 52])).encode())
    assert (found.iteration, found.first_iteration) == (52, 51)


def test_an_error_in_another_ranks_iteration_line_is_seen() -> None:
    found = scan(VARIANTS["plain megatron"] + " [rank1]: RuntimeError: NPU out of memory. Tried to allocate\n")
    assert [item["code"] for item in found.findings] == ["npu_out_of_memory"] and found.iteration == 12


@given(st.lists(st.binary(max_size=60), max_size=8))
def test_any_bytes_in_any_pieces_are_survived(parts: list[bytes]) -> None:
    found = Scan()
    for part in parts:
        found.feed("x", part)
    whole = Scan()
    whole.feed("x", b"".join(parts))
    assert found.as_dict() == whole.as_dict()


@given(st.text(max_size=80))
def test_cleaned_lines_have_no_control_characters(text: str) -> None:
    assert all(char == "\t" or char >= " " for char in clean(text))


SECRETS = [
    "export HF_TOKEN=hf_abcdefghijklmnop",
    "--hub-token sk-aaaaaaaaaaaaaaaaaaaa",
    "password: hunter2000",
    "url https://bob:geheim@example.org/x",
    "Authorization: Bearer abcdefghijklmnop",
    '{"api_key": "abcdef123456"}',
    "AWS_SECRET_ACCESS_KEY=abcdefgh",
    "{'password': 'hunter2 and more'}",
    "https://geheim@example.org/r.git",
    "redis://:geheim@example.org:6379",
    "Authorization: Token geheim1234",
    "--wandb-key geheim",
    "https://x.org/o?X-Amz-Signature=geheim&y=1",
    "OBS_SK: geheim",
    "API_KEY=tokenizer-geheim",
    "obs: ak=geheim12 sk=geheim34",
    "{'ak': 'geheim', 'sk': \"geheim\"}",
    "pwd=geheim",
    "+ sshpass -p geheim ssh worker1",
    "docker login -u me -p geheim registry.example.org",
    "redis-cli -h cache -a geheim ping",
    "curl -s -u bob:geheim https://example.org/x",
    "{'token': 'geheim and its quote was cut off",
    "https://u:geheim@geheim/x@example.org/r",
    "https://u:geheim/x@example.org/r",
    "密码：geheim",
    "OBS_AK=geheim12 REDIS_PASS=geheim1",
    "os.environ['HF_TOKEN'] = 'geheim'",
    "wandb.login(key='geheim')",
    "wandb login geheim",
    "--swanlab-key geheim",
    "  hub_token ..................... geheim",
    "https://obs/x?Signature=geheim&AccessKeyId=geheim",
    "https://qyapi.example.com/send?key=geheim",
    "echo geheim | docker login --password-stdin",
    "https://open.feishu.cn/open-apis/bot/v2/hook/geheim",
    "Cookie: session=geheim; b=geheim",
    "login with password 'geheim'",
    "LTAI5tgeheimAbCdEfGh",
    "ENCRYPTION_KEY=geheim",
]


@pytest.mark.parametrize("line", SECRETS)
def test_secrets_are_hidden(line: str) -> None:
    hidden = redact.text(line)
    assert redact.HIDDEN in hidden
    for word in ("hf_abc", "sk-aaa", "hunter", "geheim", "abcdefghijklmnop", "abcdef123456", "=abcdefgh"):
        assert word not in hidden


@pytest.mark.parametrize(
    "line",
    [
        "tokens per sample: 1024 | consumed tokens:  11534336",
        "tokenizer-model: /ckpt/tokenizer.model",
        " iteration 1/ 2 | elapsed time per iteration (ms): 3.0 |",
        "https://example.org/path?x=1",
        "ssh://git@example.org/r.git",
        "disk: 5, mask=1, task: 3",
        "PWD=/home/me pwd: ~/work",
        "ssh -p 2222 worker1; torchrun -p 3",
        "topk: 5 | sk = 1 | peak: 77",
        "image_token_id: 151655, eos_token: </s>, add_special_tokens: True",
        "moe_token_dispatcher_type ....................... alltoall",
        "--num-key-value-heads 4 --key value",
        "Missing key(s) in state_dict: 'a.b'; sort_key=abc",
        "authors: a, bypass: 1, pass 1/3: done",
    ],
)
def test_words_of_training_are_left_alone(line: str) -> None:
    assert redact.text(line) == line


def test_a_value_of_the_environment_is_hidden_without_its_name() -> None:
    known = redact.values(
        {"WANDB_API_KEY": "geheim-0123", "HF_TOKEN_PATH": "/x/geheim", "PATH": "/usr/bin", "A_TOKEN": "1"}
    )
    assert redact.text("+ run geheim-0123 /usr/bin 1", known) == f"+ run {redact.HIDDEN} /usr/bin 1"


def test_a_private_key_is_hidden_with_its_body() -> None:
    key = ["-----BEGIN RSA PRIVATE KEY-----", "geheim", "a" * 20 + "=", "-----END RSA PRIVATE KEY-----", "after"]
    assert redact.lines(key) == [redact.HIDDEN] * 4 + ["after"]
    assert redact.text("MIIEpAIBAAKCAQEA0" * 4) == redact.HIDDEN  # its first line was told before


def test_a_secret_is_hidden_before_its_line_is_cut(tmp_path: Path) -> None:
    """Half a URL with credentials is not recognised as one."""
    for width in range(380, 400):
        line = "ValueError: " + "x" * (width - 12) + " https://bob:geheim1geheim2geheim3@example.org/x"
        (evidence,) = [item["evidence"] for item in scan(line + "\n").findings]
        assert "geheim" not in redact.text(evidence)[:400]
    path = tmp_path / "log"
    path.write_text("".join("x" * width + " https://bob:geheim1geheim2@example.org/x\n" for width in range(570, 600)))
    shown, _, _ = tail_of(path, None, 100)
    assert len(shown) > 10 and "geheim" not in "".join(shown)


def test_hiding_costs_no_more_than_the_lines_length() -> None:
    for piece in ("a-", "token", "password=", "docker login ", "eyJ", "a@", "'pwd':", "--a", "x://", "echo "):
        began = time.monotonic()
        redact.text((piece * 2048)[:2048])
        assert time.monotonic() - began < 0.3, piece


def test_the_tail_gives_new_lines_only_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("".join(f"line {i}\n" for i in range(100)), encoding="utf-8")
    lines, cursor, left = tail(path, None, 10)
    assert lines == [f"line {i}" for i in range(90, 100)] and left > 0
    assert tail(path, cursor, 10) == ([], cursor, 0)
    with path.open("a", encoding="utf-8") as file:
        file.write("new\nhalf")
    lines, cursor, _ = tail(path, cursor, 10)
    assert lines == ["new"]
    with path.open("a", encoding="utf-8") as file:
        file.write(" done\n")
    assert tail(path, cursor, 10)[0] == ["half done"]


def test_the_tail_of_a_huge_log_reads_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.truncate(2 * 1024**3)
        file.seek(0, 2)
        file.write(b"\nthe end\n")
    lines, _, left = tail(path, None, 3)
    assert lines[-1] == "the end"
    assert left > 1024**3
