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
}
