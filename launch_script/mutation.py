"""Variables that arithmetic changes: ``((N++))``, ``let N=2``, ``$((N += 1))``."""

import re
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import arithmetic
from mindspeed_mm_train_profiler.launch_script.state import Shell, Var
from mindspeed_mm_train_profiler.launch_script.values import plain

CHANGE = re.compile(
    r"(?P<before>\+\+|--)\s*\$?\{?(?P<later>[A-Za-z_]\w*)"
    r"|(?P<name>[A-Za-z_]\w*)(?P<index>\[[^\]]*\])?\s*(?P<op>\+\+|--|(?:\*\*|<<|>>|[-+*/%&|^])?=(?!=))"
)
WHOLE = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?P<op>(?:<<|>>|[-+*/%&|^])?)=(?!=)(?P<right>[^=?,]*)\s*$")
STEP = re.compile(r"\s*(?:(?P<name>[A-Za-z_]\w*)\s*(?P<op>\+\+|--)|(?P<before>\+\+|--)\s*(?P<later>[A-Za-z_]\w*))\s*$")


def changed(text: str) -> set[str]:
    """Names that an arithmetic expression assigns."""
    return {found["name"] or found["later"] for found in CHANGE.finditer(text)}


def mutate(shell: Shell, text: str, node: Any) -> None:
    """Carry out an expression that is one assignment; of any other, what it assigns is not known any more."""
    names = changed(text)
    if not names:
        return
    if (step := STEP.match(text)) is not None:
        name, sign = step["name"] or step["later"], (step["op"] or step["before"])[0]
        expression = f"({name}) {sign} 1"
    elif (whole := WHOLE.match(text)) is not None and len(names) == 1:
        name = whole["name"]
        expression = f"({name}) {whole['op']} ({whole['right']})" if whole["op"] else whole["right"]
    else:
        name, expression = "", ""
    if name and not (name in shell.variables and shell.variables[name].array is not None):
        try:
            _set(shell, name, Var(plain(str(arithmetic.evaluate(expression, shell.text)))))
            return
        except (arithmetic.Unknown, RecursionError):
            pass
    for name in sorted(names):
        why = Note("arithmetic_not_known", {"expression": text[:80]})
        _set(shell, name, Var(shell.record.unknown(f"${{{name}}}", shell.source, node, why)))


def _set(shell: Shell, name: str, var: Var) -> None:
    old = shell.variables.get(name)
    shell.assign(name, Var(var.value, exported=old.exported if old else False))
