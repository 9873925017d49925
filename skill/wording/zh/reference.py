"""生成文档的文本。"""

TEXTS: dict[str, str] = {
    "recipes.transport.local": "服务运行在本机",
    "recipes.transport.ssh": "服务运行在 NPU 主机，经 SSH 连接",
    "recipes.transport.http": "经 HTTP 连接",
    "recipes.into": "写入 `{file}`。",
    "recipes.source": "格式出处：<{url}>",
    "recipes.note.variable": "令牌从环境变量读取，请在启动客户端的环境中设置。",
    "recipes.note.prompt": "VS Code 只询问一次令牌，并保存在自己的密钥存储中。",
    "recipes.note.bridge": "Claude Desktop 的配置文件只支持命令；`mcp-remote`（需要 Node）负责桥接到 HTTP。令牌会留在该文件中，因此更推荐 SSH。",
    "recipes.note.literal_token": "该客户端的文档未说明请求头可引用环境变量，令牌会留在其配置中，因此更推荐 SSH。",
    "recipes.note.opencode_v1": "OpenCode 1.x：内容相同，但没有 `servers` 这一层。",
    "recipes.where.claude_code": "`--scope user` 对您的所有项目生效；放在项目根目录的 `.mcp.json` 可与团队共享。",
    "recipes.where.claude_desktop": "该文件位于 `~/Library/Application Support/Claude/`（macOS）或 `%APPDATA%\\Claude\\`（Windows）。修改后请重启应用。",
    "recipes.where.cursor": "`~/.cursor/mcp.json` 对所有项目生效，`.cursor/mcp.json` 只对当前项目生效。",
    "recipes.where.vs_code": "`.vscode/mcp.json` 只对当前工作区生效；要对所有工作区生效，请执行命令 “MCP: Open User Configuration”。",
    "recipes.where.codex": "命令行与 IDE 插件共用此文件；`.codex/config.toml` 只对一个受信任的项目生效。",
    "recipes.where.opencode": "项目内的 `opencode.json`，或对所有项目生效的 `~/.config/opencode/opencode.json`。",
    "recipes.where.trae": "设置 → MCP → 添加 → 手动添加；或使用项目级文件。command 中不能有空格。",
    "recipes.where.cherry_studio": "设置 → MCP 服务器 → 添加 → 从 JSON 导入，然后启用该服务器。",
}
