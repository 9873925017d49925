"""choose_options、资源和提示词的文字。"""

TEXTS: dict[str, str] = {
    "choose.confirm": "{table}\n\n确认后开始配置。需修改请拒绝并说明。",
    "choose.declined": "用户已拒绝；没有用户的明确指示，不再继续。",
    "choose.cancelled": "用户已取消；没有用户的明确指示，不再继续。",
    "choose.needs_answers": "还有 {count} 个问题未回答。请询问用户，不要代为回答。",
    "choose.next_answers": "用户回答后，将回答加入 `answers` 再次调用。",
    "choose.complete": "配置已选完。请展示配置表，等待用户确认。",
    "choose.confirmed": "配置已选完，用户已确认配置表。",
    "choose.next_build": "用户已确认，可创建副本。",
    "choose.next_confirm": "按脚本检查所选配置，并请用户确认。",
    "choose_without_script.message": "没有给出脚本，未能对照脚本检查。",
    "choose_without_script.hint": "请向用户询问训练脚本（.sh）路径，再次调用。",
    "prompt.script": "训练脚本：{script}",
    "prompt.no_script": "请先向我询问训练脚本路径（.sh）：已配置好模型、数据、权重的可运行训练脚本。没有则停止，并回复：Profiling 需要可运行的训练脚本，请先准备好再进行采集。",
    "prompt.text": '请采集昇腾 NPU 上 MindSpeed-MM 训练的性能数据。\n\n{start}\n\n按以下顺序使用工具，language="{language}"：detect_engine、check_env、choose_options、build_config、launch_training、poll_status（直到结束）、verify_output、summarize_profile。逐一询问我八个问题（choose_options 或 profiling://questions/{language}），展示配置确认表，得到我的确认之前不写入任何文件。不要修改我的原始文件，不要结束不属于本次运行的进程。工具要求停止时，停止并告诉我。用我的语言回复；命令、路径、环境变量、包名和错误信息保持原样。',
}
