"""Texts of choose_options, the resources and the prompt."""

TEXTS: dict[str, str] = {
    "choose.confirm": "{table}\n\nI start once you confirm. Decline, and say what to change, if anything should.",
    "choose.declined": "The user declined; nothing goes on from here without their word.",
    "choose.cancelled": "The user cancelled; nothing goes on from here without their word.",
    "choose.needs_answers": "{count:question is|questions are} open. Ask the user; do not answer for them.",
    "choose.next_answers": "After the user has answered: add their answers to `answers`.",
    "choose.complete": "Everything is chosen. Show the table and wait for the user's yes.",
    "choose.confirmed": "Everything is chosen, and the user has confirmed the table.",
    "choose.next_build": "The user has confirmed: write the copies.",
    "choose.next_confirm": "It checks the choices against the script and asks for confirmation.",
    "choose_without_script.message": "No script was given: nothing could be checked against it.",
    "choose_without_script.hint": "Ask for the path of the launch script (.sh) and call again with it.",
    "prompt.script": "The training script is: {script}",
    "prompt.no_script": "Ask me first for the path of the training script (.sh): one that runs, with model, data and weights set up. Without one, stop: Profiling needs a runnable training script; please prepare one first.",
    "prompt.text": 'Collect a performance profile of a MindSpeed-MM training on Ascend NPUs.\n\n{start}\n\nUse the tools in this order, with language="{language}": detect_engine, check_env, choose_options, build_config, launch_training, poll_status until it ends, verify_output, summarize_profile. Ask me the eight questions one by one (choose_options, or profiling://questions/{language}), show the confirmation table and wait for my yes before anything is written. Never change my own files, never end a process that is not this run\'s. Stop and tell me where a tool says so. Report in my language; leave commands, paths, variables, package names and error texts as they are.',
}
