"""终端命令的文本。"""

TEXTS: dict[str, str] = {
    "option_invalid.message": "--{option} 不接受这个值：{found}",
    "option_invalid.hint": "可用取值见该命令的 --help。",
    "token_unreadable.message": "无法读取令牌文件：{found}（{detail}）",
    "token_exposed.message": "令牌文件可被他人读取：{found}",
    "token_exposed.hint": "chmod 600 {path}",
    "token_short.message": "令牌太短：{found}",
    "token_short.hint": "可用此命令生成：python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
    "http_needs_token.message": "未设置令牌，拒绝监听 {found}：能访问该地址的人都可以用您的身份执行脚本。",
    "http_needs_token.hint": "请设置 {variable} 或给出 --token-file；或只监听 127.0.0.1，再通过 ssh -L 访问。",
}
