"""Texts of the generated documents."""

TEXTS: dict[str, str] = {
    "recipes.transport.local": "Server on this machine",
    "recipes.transport.ssh": "Server on the NPU host, over SSH",
    "recipes.transport.http": "Server over HTTP",
    "recipes.into": "In `{file}`.",
    "recipes.source": "Format: <{url}>",
    "recipes.note.variable": "The token is read from the variable; set it where the client starts.",
    "recipes.note.prompt": "VS Code asks for the token once and keeps it in its secret store.",
    "recipes.note.bridge": "Claude Desktop's file knows only commands; `mcp-remote` (needs Node) bridges to HTTP. The token then lies in this file: SSH is the better way.",
    "recipes.note.literal_token": "This client does not document variables in headers: the token lies in its settings. SSH is the better way.",
    "recipes.note.opencode_v1": "OpenCode 1.x: the same, without `servers`.",
    "recipes.where.claude_code": "`--scope user` makes it known in all your projects; `.mcp.json` in a project's root shares it with the team.",
    "recipes.where.claude_desktop": "The file lies in `~/Library/Application Support/Claude/` (macOS) or `%APPDATA%\\Claude\\` (Windows). Restart the application afterwards.",
    "recipes.where.cursor": "`~/.cursor/mcp.json` for all projects, `.cursor/mcp.json` for one.",
    "recipes.where.vs_code": "`.vscode/mcp.json` for one workspace; \"MCP: Open User Configuration\" for all.",
    "recipes.where.codex": "The command line and the IDE extension share this file; `.codex/config.toml` serves one trusted project.",
    "recipes.where.opencode": "`opencode.json` in the project, or `~/.config/opencode/opencode.json` for all.",
    "recipes.where.trae": "Settings, MCP, Add, Configure manually; or the file for one project. The command must not contain blanks.",
    "recipes.where.cherry_studio": "Settings, MCP servers, Add, Import from JSON; then switch the server on.",
}
