"""Texts of the terminal command."""

TEXTS: dict[str, str] = {
    "option_invalid.message": "--{option} does not take this value: {found}",
    "option_invalid.hint": "See the command's --help for the values it takes.",
}
