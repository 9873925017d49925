"""Texts of the terminal command."""

TEXTS: dict[str, str] = {
    "option_invalid.message": "--{option} does not take this value: {found}",
    "option_invalid.hint": "See the command's --help for the values it takes.",
    "token_unreadable.message": "The token file cannot be read: {found} ({detail})",
    "token_exposed.message": "The token file can be read by others: {found}",
    "token_exposed.hint": "chmod 600 {path}",
    "token_short.message": "The token is too short: {found}",
    "token_short.hint": "Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
    "http_needs_token.message": "Refusing to listen on {found} without a token: whoever reaches it could run scripts as you.",
    "http_needs_token.hint": "Set {variable} or give --token-file, or listen on 127.0.0.1 and reach it through ssh -L.",
}
