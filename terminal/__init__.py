"""The terminal face: the same functions as the tools, as commands."""
