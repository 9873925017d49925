"""The conversation: questions, answers, confirmation, wording. Knows nothing of MCP."""
