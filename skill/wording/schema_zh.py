"""Chinese for what schemas and option help say in the code's language, for the references and ``--help``.

A text is looked up as a whole, then by its parts between semicolons; ``PATTERNS`` are parts with a number or a list in
them. Models read the English ones. A test asks that every text has its words here, and that none is left over.
"""

import re

VARIABLE = re.compile(r"^(.*) (\[[A-Z_]+\])$", re.S)
PATTERNS: tuple[tuple[str, str], ...] = (
    (r"(\d+) to (\d+)", r"\1 到 \2"),
    (r"at least (\d+)", r"至少为 \1"),
    (r"of ([a-z_, ]+)", r"可取 \1"),
)
TEXTS: dict[str, str] = {
    # detect_engine
    "Detect the training engine": "识别训练引擎",
    "Read a MindSpeed-MM launch script without running it: engine (Megatron or FSDP2), configuration chain, train_iters, ranks, current profile block, missing paths. An unsupported script is a normal answer.": "只读取、不运行 MindSpeed-MM 启动脚本：引擎（Megatron 或 FSDP2）、配置链、train_iters、rank、当前的 profile 配置、缺失的路径。不支持的脚本也是正常的回答。",
    "launch script (.sh)": "启动脚本（.sh）",
    "where the launch starts": "启动时所在目录",
    "the script's own": "脚本自己的参数",
    "set for the launch": "启动时设置的环境变量",
    "What to call next, with arguments ready to use.": "下一步调用什么，参数可直接使用。",
    "A warning: code, sentence, and what to do about it.": "一条提醒：代码、说明，以及如何处理。",
    "entries left out of lists longer than 60": "超过 60 项的列表中省略的条目数",
    # check_env
    "Check the NPU host": "检查 NPU 主机",
    "Look at this host without changing it: CANN, npu-smi (NPUs, memory, processes), torch_npu in the Python the script uses, msprof, free disk, MASTER_PORT. 'blocking' stops a collection.": "只查看、不改动本机：CANN、npu-smi（NPU、显存、进程）、脚本所用 Python 中的 torch_npu、msprof、剩余磁盘、MASTER_PORT。blocking 中的问题会使采集无法进行。",
    "launch script, for its CANN, Python, port and paths": "启动脚本，用于确定其 CANN、Python、端口和路径",
    "interpreter the training uses": "训练使用的解释器",
    "probe a Slurm node": "探测一个 Slurm 节点",
    "srun options": "srun 选项",
    "null: npu-smi printed no process table": "null：npu-smi 没有打印进程表",
    # choose_options
    "Choose what to collect": "选择采集内容",
    "Ask the user the eight questions in order, skipping those answered in `answers`; then the confirmation table. Clients with forms are asked directly; else the open questions come back: ask them, call again with all answers.": "按顺序向用户提出八个问题，跳过 `answers` 中已回答的；然后给出确认表。支持表单的客户端会直接询问用户；否则返回未回答的问题：请询问用户，再带上全部答案调用一次。",
    'known answers by question id or option name; {"rest": "default"} takes the other defaults': '已知的答案，按问题 id 或选项名；{"rest": "default"} 表示其余取默认值',
    "Options of one collection. Steps are the profiler's 0-based counter: 10 to 12 captures steps 10 and 11.": "一次采集的选项。step 为 profiler 从 0 开始的计数：10 到 12 采集第 10 和 11 步。",
    "first captured step (0-based counter), at least 1": "第一个采集的 step（从 0 计数），至少为 1",
    "first step no longer captured; greater than start_step": "不再采集的第一个 step；大于 start_step",
    'global ranks, or "all"': '全局 rank，或 "all"',
    "where sessions go; default: a fresh folder under ./npu_profiling": "采集数据的存放目录；默认：./npu_profiling 下的新目录",
    "dynamic only: directory watched for profiler_config.json": "仅动态采集：监听 profiler_config.json 的目录",
    "One open question, as it fits the case. ``custom``: how a value of one's own looks; null where none is taken.": "一个未回答的问题，已按实际情况调整。``custom``：自定义值的写法；不接受自定义时为 null。",
    "why it is asked again": "为什么再次询问",
    "settled so far, for the next call": "目前已确定的答案，供下次调用",
    "the user said yes to the table in a form": "用户已在表单中确认该表",
    # build_config
    "Build profiling copies": "生成采集副本",
    "Show the confirmation table for one collection and, once confirmed, write timestamped copies of script and configuration with profiling on, each proven by reloading it as the trainer does; originals never change. Without confirmed=true (or the client's own answer) nothing is written.": "给出一次采集的确认表；确认后生成带时间戳、已打开采集的脚本与配置副本，每份都按训练程序的方式重新加载以证明正确；原文件绝不改动。没有 confirmed=true（或客户端中用户的回答）则不写任何文件。",
    "true: the user has confirmed the table": "true：用户已确认该表",
    "false: declined": "false：用户拒绝",
    "for slurm: how many nodes": "用于 slurm：节点数",
    "Steps: the profiler's 0-based counter; iterations: the log's 1-based number.": "step：profiler 从 0 开始的计数；iteration：日志中从 1 开始的编号。",
    "Where a profiled rank runs: torchrun counts ranks node by node. ``device``: index on its node.": "所采集的 rank 在哪里运行：torchrun 按节点依次编号。``device``：节点上的设备序号。",
    "characters of diffs left out; the copies hold them": "省略的差异字符数；副本中有完整内容",
    # launch_training
    "Launch the training copy": "启动训练副本",
    "Start the copy of a build under a supervisor that outlives this server. Repeating never starts a second training. Refusals (busy NPU, port, disk, changed files) name a code; override takes such codes.": "由守护进程启动所生成的副本，服务退出后训练仍继续。重复调用绝不会启动第二个训练。被拒绝时（NPU 被占用、端口、磁盘、文件已改动）会给出代码；override 接受这些代码。",
    "from build_config": "来自 build_config",
    "same key, same run": "相同的键对应同一次运行",
    "refusals to overrule, e.g. port_in_use": "要忽略的拒绝原因，例如 port_in_use",
    "Slurm's time limit": "Slurm 的时间限制",
    "e.g. --gres=npu:8": "例如 --gres=npu:8",
    "Slurm's": "Slurm 的作业号",
    # poll_status
    "Follow a run": "跟踪运行",
    "State, phase, iteration, ETA, whether the profiling window was reached, sessions seen, new log lines and a diagnosis, from the run's own folder. Works after any restart. wait_s waits for news; pass the cursor on.": "从运行自己的目录得出：状态、阶段、iteration、预计剩余时间、是否到达采集窗口、已出现的会话、新的日志行和诊断。任何重启之后都可用。wait_s 表示等待变化；请把 cursor 传给下次调用。",
    "from launch_training, or a parse_id": "来自 launch_training，或 parse_id",
    "from the last call, for newer log lines": "来自上次调用，用于取更新的日志行",
    "for a change": "等待变化的秒数",
    "whose log, of many": "多节点时看哪个节点的日志",
    "quoted from the log": "引自日志",
    "One node of a run over many.": "多节点运行中的一个节点。",
    "``state``: waiting, parsing, valid, invalid or failed; ``kept_earlier``: the new results were worse.": "``state``：waiting、parsing、valid、invalid 或 failed；``kept_earlier``：新结果更差，已保留原结果。",
    "Slurm's own words on the job.": "Slurm 对该作业的说明。",
    "A window of a dynamic run; steps are the watcher's own counter.": "动态采集的一个窗口；step 为监听程序自己的计数。",
    "log bytes before the lines shown, left out": "所示日志行之前省略的字节数",
    "of a dynamic run, oldest first": "动态采集的窗口，最早的在前",
    "of a run over many nodes": "多节点运行的",
    "of an offline parse": "离线解析的",
    # trigger_dynamic
    "Open a dynamic window": "打开动态采集窗口",
    "Make a running dynamic collection capture steps now or at a step: writes profiler_config.json so that torch_npu takes it, then tells whether it started, stopped, or was ignored and why.": "让运行中的动态采集立即或在指定 step 开始采集：以 torch_npu 能识别的方式写入 profiler_config.json，然后告知已开始、已结束，还是被忽略及其原因。",
    "a dynamic run": "一次动态采集的运行",
    "step to start at": "开始采集的 step",
    "how many to capture": "采集多少步",
    "build_config options to change: level, ranks, with_*, ...": "要改动的 build_config 选项：level、ranks、with_* 等",
    "for its end": "等待其结束的秒数",
    "asked for": "请求的 step",
    "null: the next step": "null：下一个 step",
    "null: every rank that watches": "null：所有监听的 rank",
    # stop_training
    "Stop a run": "停止运行",
    "End this run's own processes (TERM, then KILL after grace_s seconds) or its Slurm job, nothing else.": "只结束该运行自己的进程（先 TERM，grace_s 秒后 KILL）或其 Slurm 作业，不动其他任何进程。",
    "from launch_training": "来自 launch_training",
    "seconds the profiler gets to flush": "留给 profiler 落盘的秒数",
    # verify_output
    "Verify collected profile": "校验采集结果",
    "Judge the *_ascend_pt sessions of a run or path: ranks, settings, raw data, results, steps. Verdict: complete, unparsed (parse offline), partial, empty, missing.": "校验一次运行或某个路径下的 *_ascend_pt 会话：rank、设置、原始数据、解析结果、step。结论：complete、unparsed（需离线解析）、partial、empty、missing。",
    "What the output should be.": "期望的输出。",
    "ISO time; older is stale": "ISO 时间；更早的视为旧数据",
    "a run: judged by its own request": "一次运行：按其自身的要求校验",
    "or a folder with sessions": "或含有会话的目录",
    "read files to their end": "把文件完整读一遍",
    "``device`` is the device index, not the rank.": "``device`` 是设备序号，不是 rank。",
    "of a run over many": "多节点运行中的节点",
    "null: not listed": "null：未列出",
    # parse_offline
    "Parse sessions offline": "离线解析",
    "Parse sessions without good results in the background with torch_npu; judged by its outputs. Follow it with poll_status(run_id=parse_id).": "在后台用 torch_npu 解析尚无完好结果的会话；以输出文件判断成败。用 poll_status(run_id=parse_id) 跟踪。",
    "a run": "一次运行",
    "or a folder, any depth": "或一个目录，深度不限",
    "only these": "只处理这些",
    "parse again what has good results": "已有完好结果的也重新解析",
    "run as Slurm array": "作为 Slurm 数组作业运行",
    "options": "选项",
    "already_parsed, prof_alone, raw_missing or rank_not_asked": "already_parsed、prof_alone、raw_missing 或 rank_not_asked",
    # summarize_profile
    "Summarise a profile": "汇总性能数据",
    "Numbers of a parsed profile, per rank: steps (compute, communication, free), top operators, communication, slow rank, memory peak; a page and a picture. null means not measured.": "已解析数据的各 rank 数值：step（计算、通信、空闲）、耗时最多的算子、通信、慢 rank、显存峰值；并给出一个网页和一张图。null 表示未测得。",
    "operators per rank": "每个 rank 的算子数",
    "Communication operators of one kind. ``wait_us``: waiting for other ranks.": "同一类通信算子。``wait_us``：等待其他 rank 的时间。",
    "SDMA holds the links inside a node together.": "SDMA 汇总了节点内的各种链路。",
    "Compute kernels of one name, type and core; ``share`` of the rank's compute kernel time, 0 to 1.": "名称、类型、核相同的计算 kernel；``share`` 为占该 rank 计算 kernel 总时间的比例，0 到 1。",
    "``core_shares``: part of compute kernel time by core, 0 to 1. Peak: reserved by the framework's allocator, MB.\n\n``sources``: the file that told each kind of number, below the session.": "``core_shares``：各类核占计算 kernel 时间的比例，0 到 1。峰值：框架分配器的保留量，MB。\n\n``sources``：每类数值来自会话中的哪个文件。",
    "null where matplotlib is not installed": "未安装 matplotlib 时为 null",
    "Each rank's mean of its steps, compared.": "比较各 rank 的 step 平均值。",
    "Microseconds; null: not measured. ``step`` is null where CPU activity was off.": "微秒；null：未测得。未采集 CPU 时 ``step`` 为 null。",
    "its index on the host": "设备在主机上的序号",
    "whose compute stands out": "计算时间明显偏长的 rank",
    "null: none": "null：没有",
    "rows left out here; the report has them": "此处省略的行数；报告中有完整内容",
    # compare_profiles
    "Compare two profiles": "对比两次采集",
    "Two parsed profiles of one training: step time, its parts, operators (by name, shapes) that changed.": "同一训练的两份已解析数据：step 耗时及其组成、有变化的算子（按名称和 shape 对齐）。",
    "run_id or path": "run_id 或路径",
    "Microseconds, mean over ranks and inner steps; ``ratio``: after over before.": "微秒，各 rank 及中间各步的平均值；``ratio``：后者比前者。",
    "Microseconds and calls of one step of one rank, mean.": "单个 rank 单步的微秒数与调用次数，取平均。",
    "operators left out": "省略的算子数",
    # list_runs, discard_copies
    "List builds and runs": "列出构建与运行",
    "Runs of this host's user and builds that were not launched yet, newest first.": "本机当前用户的运行，以及尚未启动的构建，最新的在前。",
    "from the last call": "来自上次调用",
    "run or build": "运行或构建",
    "pass it on for older ones": "传给下次调用以取更早的",
    "null at the end": "到末尾时为 null",
    "Discard profiling copies": "删除采集副本",
    "Remove the copies that one build_config call made, and the folders it created where they are empty. Copies changed since, originals and collected data are kept.": "删除某次 build_config 生成的副本，以及它创建且已为空的目录。之后被改动过的副本、原文件和采集数据都会保留。",
    "as build_config returned it": "build_config 返回的值",
    # the terminal
    "show this help message and exit": "显示帮助后退出",
    "show program's version number and exit": "显示版本号后退出",
    "serve MCP over stdio (the default) or HTTP": "通过 stdio（默认）或 HTTP 提供 MCP 服务",
    "run the whole job on a simulated NPU host": "在模拟的 NPU 主机上运行完整流程",
    "check this installation": "检查安装是否正常",
    "print a completion script for a shell": "打印某种 shell 的补全脚本",
    "the whole job: ask, build, launch, follow, verify": "完整流程：提问、生成、启动、跟踪、校验",
    "language of results": "结果使用的语言",
    "no build, launch or stop": "不允许生成、启动或停止",
    "directory that paths may lie in, repeatable": "允许访问的目录，可重复",
    "default: the working directory and home": "默认：当前目录与主目录",
    "/ for everywhere": "/ 表示不限制",
    "most ranks on this host a launch may start": "一次启动在本机最多可用的 rank 数",
    "what goes to stderr": "写入 stderr 的日志级别",
    "http: Streamable HTTP at /mcp": "http：在 /mcp 提供 Streamable HTTP",
    "address for http": "http 的地址",
    "another than loopback needs a token": "非回环地址需要令牌",
    "port for http": "http 的端口",
    "file (mode 0600) with the bearer token": "存放 bearer 令牌的文件（权限 0600）",
    "further Host name for http, repeatable": "http 另外接受的 Host 名，可重复",
    "http: further page that may call, as http://HOST:PORT, repeatable; default: this server's own address": (
        "http：另外允许调用的网页来源，写作 http://主机:端口，可重复；默认只接受服务自身的地址"
    ),
    "Serve MCP.": "提供 MCP 服务。",
    "language of everything printed": "全部输出使用的语言",
    "keep the folder the demo worked in": "保留演示所用的目录",
    "only this chain": "只运行这一条链路",
    "repeatable": "可重复",
    "show what the tools say when things go wrong": "演示出错时工具如何说明",
    "list the switches of the simulated host, and end": "列出模拟主机的开关后结束",
    "work in this new folder instead of a temporary one (kept)": "在这个新目录中运行，而不是临时目录（会保留）",
    "Run the whole job on a simulated NPU host.": "在模拟的 NPU 主机上运行完整流程。",
    "print the checks as JSON, nothing else": "只以 JSON 打印检查结果",
    "take every default and confirm the table": "全部取默认值并确认该表",
    "launch in spite of this refusal": "忽略这一拒绝原因仍然启动",
    "what the build may go on in spite of": "确认后仍可继续生成的事项",
    "print the tool's structured result, nothing else": "只打印工具的结构化结果",
    "separated by commas, or repeated": "用逗号分隔，或重复给出",
    "Collects performance profiles of MindSpeed-MM training on Ascend NPU hosts. Without a command it serves MCP over stdio.": "在昇腾 NPU 主机上采集 MindSpeed-MM 训练的性能数据。不带命令时通过 stdio 提供 MCP 服务。",
    "Exit codes: 0 good; 1 the answer is not good; 2 usage; 3 an expected failure, told with its code; 4 not confirmed; 130 interrupted.": "退出码：0 正常；1 结果不理想；2 用法错误；3 预期内的失败，附代码；4 未确认；130 被中断。",
    # resources and the prompt
    "The ordered questions: id, text, options, default, multiple, custom input, when asked, option fields.": "按顺序的问题：id、文字、选项、默认值、是否多选、自定义输入、何时询问、对应的选项字段。",
    "One question.": "一个问题。",
    "Every profile parameter of both engines, by release.": "两种引擎的全部 profile 参数，按版本。",
    "Symptoms, causes, remedies.": "现象、原因、处理办法。",
    "One run: its state as poll_status tells it, without log lines.": "一次运行：poll_status 给出的状态，不含日志行。",
    "Runs and builds of this user, newest first; at most 100.": "当前用户的运行与构建，最新的在前；最多 100 条。",
    "Collect a performance profile of a MindSpeed-MM training: asks, confirms, runs, verifies.": "采集一次 MindSpeed-MM 训练的性能数据：提问、确认、运行、校验。",
}


def chinese(text: str) -> str | None:
    """The text in Chinese; None where a part of it has no words here."""
    stripped = text.strip()
    if stripped in TEXTS:
        return TEXTS[stripped]
    if found := VARIABLE.match(stripped):
        inner = chinese(found[1])
        return None if inner is None else f"{inner} {found[2]}"
    pieces = stripped.split("; ")
    told = [_piece(piece) for piece in pieces]
    return None if None in told else "；".join(piece for piece in told if piece is not None)


def _piece(piece: str) -> str | None:
    if piece in TEXTS:
        return TEXTS[piece]
    for pattern, words in PATTERNS:
        if (found := re.fullmatch(pattern, piece)) is not None:
            return found.expand(words)
    return None
