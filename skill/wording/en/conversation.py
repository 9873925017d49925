"""Texts of choose_options, the resources and the prompt."""

TEXTS: dict[str, str] = {
    "choose.confirm": "{table}\n\nI start once you confirm. Decline, and say what to change, if anything should.",
    "choose.declined": "The user declined; nothing goes on from here without their word.",
    "choose.cancelled": "The user cancelled; nothing goes on from here without their word.",
    "choose.needs_answers": "{count} questions are open. Ask the user; do not answer for them.",
    "choose.next_answers": "After the user has answered: add their answers to `answers`.",
    "choose.complete": "Everything is chosen. Show the table and wait for the user's yes.",
    "choose.confirmed": "Everything is chosen, and the user has confirmed the table.",
    "choose.next_build": "The user has confirmed: write the copies.",
    "choose.next_confirm": "It checks the choices against the script and asks for confirmation.",
    "choose_without_script.message": "No script was given: nothing could be checked against it.",
    "choose_without_script.hint": "Ask for the path of the launch script (.sh) and call again with it.",
}
