"""``$(( ... ))``: integer arithmetic as bash does it (64 bits, division towards zero)."""

import re
from collections.abc import Callable

TOKEN = re.compile(r"\s*(0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|<<|>>|<=|>=|==|!=|&&|\|\||\*\*|[-+*/%()<>!~?:&|^,])")
LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="),
    ("<=", ">=", "<", ">"), ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip


class Unknown(Exception):
    """The value cannot be known by reading."""


def _wrap(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


class _Parser:
    def __init__(self, text: str, lookup: Callable[[str], int], depth: int) -> None:
        self.tokens: list[str] = []
        position = 0
        text = text.strip()
        while position < len(text):
            found = TOKEN.match(text, position)
            if not found:
                raise Unknown(text[position:][:20])
            self.tokens.append(found.group(1))
            position = found.end()
        self.at = 0
        self.lookup = lookup
        self.depth = depth

    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise Unknown("end")
        self.at += 1
        return token

    def ternary(self, nested: int = 0) -> int:
        if nested > 60:
            raise Unknown("depth")
        value = self.binary(0, nested)
        if self.peek() == "?":
            self.take()
            yes = self.ternary(nested + 1)
            if self.take() != ":":
                raise Unknown(":")
            no = self.ternary(nested + 1)
            return yes if value else no
        return value

    def binary(self, level: int, nested: int) -> int:
        if level == len(LEVELS):
            return self.power(nested)
        value = self.binary(level + 1, nested)
        while self.peek() in LEVELS[level]:
            operator = self.take()
            value = _wrap(self.apply(operator, value, self.binary(level + 1, nested)))
        return value

    def power(self, nested: int) -> int:
        base = self.unary(nested)
        if self.peek() == "**":
            self.take()
            exponent = self.power(nested + 1)
            if not 0 <= exponent <= 64:
                raise Unknown("exponent")
            return _wrap(base**exponent)
        return base

    def unary(self, nested: int) -> int:
        token = self.take()
        if nested > 60:
            raise Unknown("depth")
        if token == "-":
            return -self.unary(nested + 1)
        if token == "+":
            return self.unary(nested + 1)
        if token == "!":
            return int(not self.unary(nested + 1))
        if token == "~":
            return ~self.unary(nested + 1)
        if token == "(":
            value = self.ternary(nested + 1)
            if self.take() != ")":
                raise Unknown(")")
            return value
        if token[0].isdigit():
            if token[:2].lower() == "0x":
                return int(token, 16)
            return int(token, 8) if token[0] == "0" and len(token) > 1 else int(token)
        if token[0].isalpha() or token[0] == "_":
            return self.lookup(token)
        raise Unknown(token)

    @staticmethod
    def apply(operator: str, left: int, right: int) -> int:
        if operator in "/%" and right == 0:
            raise Unknown("division by zero")
        if operator in {"<<", ">>"} and not 0 <= right < 64:
            raise Unknown("shift")
        simple: dict[str, Callable[[], int]] = {
            "+": lambda: left + right,
            "-": lambda: left - right,
            "*": lambda: left * right,
            "/": lambda: abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1),
            "%": lambda: abs(left) % abs(right) * (-1 if left < 0 else 1),
            "<<": lambda: left << right,
            ">>": lambda: left >> right,
            "<": lambda: int(left < right),
            ">": lambda: int(left > right),
            "<=": lambda: int(left <= right),
            ">=": lambda: int(left >= right),
            "==": lambda: int(left == right),
            "!=": lambda: int(left != right),
            "&": lambda: left & right,
            "|": lambda: left | right,
            "^": lambda: left ^ right,
            "&&": lambda: int(bool(left) and bool(right)),
            "||": lambda: int(bool(left) or bool(right)),
        }
        return simple[operator]()


def evaluate(text: str, lookup: Callable[[str], str | None], depth: int = 0) -> int:
    """The value of an expression whose ``$`` expansions are done. ``lookup`` gives a variable's text, None if unknown.

    Raises Unknown where reading cannot tell (an unknown variable, an assignment inside, division by zero).
    """
    if depth > 8 or len(text) > 4000:
        raise Unknown("depth")
    if not text.strip():
        return 0

    def number(name: str) -> int:
        value = lookup(name)
        if value is None:
            raise Unknown(name)
        return evaluate(value, lookup, depth + 1)

    parser = _Parser(text, number, depth)
    value = parser.ternary()
    if parser.peek() is not None:
        raise Unknown(parser.peek())
    return value
