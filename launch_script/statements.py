"""Statements: what bash would do with them, followed only as far as reading can know."""

from collections.abc import Callable
from typing import Any

from mindspeed_mm_train_profiler.errors import Note
from mindspeed_mm_train_profiler.launch_script import arithmetic, conditions, patterns
from mindspeed_mm_train_profiler.launch_script.commands import run_command
from mindspeed_mm_train_profiler.launch_script.expansion import arithmetic_text, line_of, value
from mindspeed_mm_train_profiler.launch_script.mutation import changed, mutate
from mindspeed_mm_train_profiler.launch_script.pipelines import pipeline, redirected
from mindspeed_mm_train_profiler.launch_script.siblings import together
from mindspeed_mm_train_profiler.launch_script.state import (
    Shell,
    Status,
    Var,
    enter_loop,
    leave_loop,
    merge,
    next_round,
)
from mindspeed_mm_train_profiler.launch_script.values import Value, known, text_of
from mindspeed_mm_train_profiler.launch_script.words import word_list

MAX_ROUNDS = 64
"""Rounds of a loop followed; a training script's loops are short lists."""


def run(shell: Shell, node: Any) -> Status:
    """Execute one statement; its status as a condition would see it (None: not known)."""
    if shell.stopped():
        return None
    shell.record.step()
    kind = node.type
    if kind in {"comment", "heredoc_body"} or not node.is_named:
        return None
    handler = HANDLERS.get(kind)
    if handler is not None:
        return handler(shell, node)
    if kind in {"program", "compound_statement", "do_group", "else_clause", "ERROR"}:
        if kind == "compound_statement" and shell.source.text[node.start_byte :][:2] == b"((":
            return _arithmetic(shell, node)
        return sequence(shell, node.children)
    return None


def sequence(shell: Shell, nodes: list[Any]) -> Status:
    """Statements one after another; ``&`` behind one puts it in the background."""
    status: Status = True
    for index, node in enumerate(nodes):
        if shell.stopped():
            break
        if not node.is_named:
            continue
        behind = nodes[index + 1] if index + 1 < len(nodes) else None
        if behind is not None and behind.type == "&":
            run(shell.fork(background=True), node)
            status = True
        else:
            status = run(shell, node)
    return status


def either(shell: Shell, bodies: list[list[Any]]) -> Status:
    """A condition that is not known: every branch is followed apart, and marked."""
    branches = []
    for body in bodies:
        branch = shell.fork(certain=False, choices=shell.choices + 1)
        sequence(branch, body)
        branches.append(branch)
    merge(shell, branches)
    return None


def assignment(shell: Shell, node: Any, *, exported: bool = False) -> Status:
    """``NAME=value``, ``NAME+=value``, ``NAME=(...)``, ``NAME[i]=value``."""
    from mindspeed_mm_train_profiler.launch_script.assignments import assign

    assign(shell, node, exported=exported)
    return True


def _list(shell: Shell, node: Any) -> Status:
    left, operator, right = node.children[0], shell.source.raw(node.children[1]), node.children[-1]
    status = run(shell, left)
    if shell.stopped():
        return None
    wanted = operator == "&&"
    if status is None:
        branch = shell.fork(certain=False, choices=shell.choices + 1)
        other = shell.fork(certain=False)
        run(branch, right)
        merge(shell, [branch, other])
        return None
    return run(shell, right) if status is wanted else status


def _if(shell: Shell, node: Any) -> Status:
    """``if``/``elif``/``else``: clauses are (condition, body) pairs in order; the last may have no condition."""
    clauses: list[tuple[list[Any], list[Any]]] = [([], [])]
    in_body = False
    rest: list[Any] = []
    for child in node.children:
        if child.type == "then":
            in_body = True
        elif child.type in {"elif_clause", "else_clause"}:
            rest.append(child)
        elif child.type not in {"if", "fi"}:
            clauses[0][1 if in_body else 0].append(child)
    for clause in rest:
        if clause.type == "else_clause":
            clauses.append(([], list(clause.children)))
            continue
        at = next((i for i, c in enumerate(clause.children) if c.type == "then"), len(clause.children))
        clauses.append((list(clause.children[1:at]), list(clause.children[at + 1 :])))
    return _choose(shell, clauses)


def _choose(shell: Shell, clauses: list[tuple[list[Any], list[Any]]]) -> Status:
    possible: list[list[Any]] = []
    for condition, body in clauses:
        status = sequence(shell, condition) if condition else True
        if shell.stopped():
            return None
        if status is True:
            if not possible:
                return sequence(shell, body)
            possible.append(body)
            return either(shell, possible)
        if status is None:
            possible.append(body)
    if possible:
        return either(shell, [*possible, []])
    return True


def _for(shell: Shell, node: Any) -> Status:
    variable = node.child_by_field_name("variable")
    body = node.child_by_field_name("body")
    items = [
        word
        for child in together(node.children_by_field_name("value"), shell.source.text)
        for word in word_list(shell, child)
    ]
    name = shell.source.raw(variable)
    if not any(child.type == "in" for child in node.children):
        items = []
    # the number of a job is not known, but it is one word
    unsure = any(not word.known and word.text != "$!" for word in items)
    if unsure or any(set("*?") & set(w.text) and w.span for w in items):
        shell.assign(name, Var(shell.record.unknown(f"${{{name}}}", shell.source, node, Note("loop_not_known", {}))))
        return _perhaps(shell, body)
    loop = enter_loop(shell)
    for word in items[:MAX_ROUNDS]:
        from mindspeed_mm_train_profiler.launch_script.assignments import from_word

        shell.assign(name, Var(from_word(word)))
        run(shell, body)
        if not next_round(shell):
            break
    leave_loop(shell, loop)
    if len(items) > MAX_ROUNDS:
        shell.record.notes.append(Note("loop_cut", {"line": line_of(node), "rounds": MAX_ROUNDS}))
    return True


def _counted(shell: Shell, node: Any) -> Status:
    """``for ((i = 0; ...))``: how often is not followed, and what it counts with is not known."""
    head = shell.source.raw(node).partition("))")[0]
    for name in sorted(changed(head)):
        shell.assign(name, Var(shell.record.unknown(f"${{{name}}}", shell.source, node, Note("loop_not_known", {}))))
    return _perhaps(shell, node.child_by_field_name("body"))


def _perhaps(shell: Shell, body: Any) -> Status:
    """A loop whose rounds are not known."""
    loop = enter_loop(shell)
    status = either(shell, [[body], []])
    leave_loop(shell, loop)
    return status


def _arithmetic(shell: Shell, node: Any) -> Status:
    """``((N > 2))`` is a condition, ``((N++))`` changes something as well."""
    text = arithmetic_text(shell, node, node.start_byte + 2, node.end_byte - 2)
    raw = shell.source.raw(node)[2:-2]
    if text is None or changed(text):
        mutate(shell, raw if text is None else text, node)
        return None
    try:
        return bool(arithmetic.evaluate(text, shell.text))
    except (arithmetic.Unknown, RecursionError):
        return None


def _while(shell: Shell, node: Any) -> Status:
    loop = enter_loop(shell)
    status = _rounds(shell, node)
    leave_loop(shell, loop)
    return status


def _rounds(shell: Shell, node: Any) -> Status:
    body = node.child_by_field_name("body")
    until = node.children[0].type == "until"
    for _ in range(MAX_ROUNDS):
        status: Status = True
        for condition in node.children_by_field_name("condition"):
            if condition.is_named:
                status = run(shell, condition)
        if status is None or shell.stopped():
            return either(shell, [[body], []])
        if status is until:
            return True
        run(shell, body)
        if not next_round(shell):
            return None
    return either(shell, [[body], []])


def _case(shell: Shell, node: Any) -> Status:
    subject = value(shell, node.child_by_field_name("value"), quoted=True)
    items = [child for child in node.children if child.type == "case_item"]
    bodies: list[tuple[bool | None, list[Any]]] = []
    for item in items:
        at = next((i for i, c in enumerate(item.children) if c.type == ")"), 0)
        bodies.append((_case_matches(shell, subject, item.children[:at]), list(item.children[at + 1 :])))
    possible: list[list[Any]] = []
    for matched, body in bodies:
        if matched is True:
            if not possible:
                return sequence(shell, body)
            return either(shell, [*possible, body])
        if matched is None:
            possible.append(body)
    return either(shell, [*possible, []]) if possible else True


def _case_matches(shell: Shell, subject: Value, choices: list[Any]) -> bool | None:
    if not known(subject):
        return True if [shell.source.raw(c) for c in choices if c.is_named] == ["*"] else None
    answers = []
    for choice in choices:
        if choice.is_named:
            wanted = value(shell, choice, quoted=choice.type in {"string", "raw_string"})
            answers.append(patterns.matches(text_of(wanted), text_of(subject)) if known(wanted) else None)
    return True if True in answers else None if None in answers else False


def _function(shell: Shell, node: Any) -> Status:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is not None and body is not None:
        shell.functions[shell.source.raw(name)] = (shell.source, body)
    return True


def _subshell(shell: Shell, node: Any) -> Status:
    return sequence(shell.fork(), node.children)


def _negated(shell: Shell, node: Any) -> Status:
    status = run(shell, node.children[-1])
    return None if status is None else not status


HANDLERS: dict[str, Callable[[Shell, Any], Status]] = {
    "command": run_command,
    "variable_assignment": assignment,
    "variable_assignments": lambda shell, node: sequence(shell, node.children),
    "declaration_command": run_command,
    "unset_command": run_command,
    "list": _list,
    "pipeline": pipeline,
    "redirected_statement": redirected,
    "if_statement": _if,
    "for_statement": _for,
    "c_style_for_statement": _counted,
    "while_statement": _while,
    "case_statement": _case,
    "function_definition": _function,
    "subshell": _subshell,
    "negated_command": _negated,
    "test_command": conditions.evaluate,
}
