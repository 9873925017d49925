"""终端命令的文本。"""

TEXTS: dict[str, str] = {
    "option_invalid.message": "--{option} 不接受这个值：{found}",
    "option_invalid.hint": "可用取值见该命令的 --help。",
}
