"""Secrets never leave in a result: tokens, keys, passwords, URLs with credentials, in log lines and environments."""

import re
from collections.abc import Mapping

HIDDEN = "[hidden]"
NAME = (
    r"[\w.-]*(?:token|secret|passw(?:or)?d|passwd|api[_-]?key|access[_-]?key|private[_-]?key|credential"
    r"|auth(?:orization)?|cookie|passphrase|wandb[_-]?key|x-amz-signature|[a-z]+_(?:pwd|sk)\b)[\w.-]*"
)
RULES: tuple[tuple["re.Pattern[str]", str], ...] = (
    (re.compile(r"(\b[a-z][a-z0-9+.-]*://)(?!git@)[^/\s@]+@", re.I), rf"\1{HIDDEN}@"),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.I), rf"\1 {HIDDEN}"),
    (
        re.compile(rf"(?i)\b({NAME})([\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|(?:(?:bearer|basic|token)\s+)?[^\s,;&\"']+)"),
        rf"\1\2{HIDDEN}",
    ),
    (re.compile(rf"(?i)(--{NAME})\s+(?!-)\S+"), rf"\1 {HIDDEN}"),
    (re.compile(r"\b(?:hf_|sk-|ghp_|gho_|glpat-|github_pat_|xox[abp]-|AKIA)[A-Za-z0-9_-]{10,}"), HIDDEN),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}"), HIDDEN),
    # short names of object stores, and a password that is no path: PWD=/home is one
    (re.compile(r"(?i)(?<![\w.-])(ak|sk|pwd|pw)([\"']?\s*[=:]\s*[\"']?)(?![/~.$])[^\s,;&\"']{3,}"), rf"\1\2{HIDDEN}"),
    # options that only with these programs are a password
    (
        re.compile(
            r"(?i)\b((?:sshpass|mysql\w*|(?:docker|podman)\s+login|mc\s+alias)\b.*?\s-p|redis-cli\b.*?\s-a"
            r"|(?:curl|wget)\b.*?\s(?:-u|--user|--proxy-user)|obsutil\b.*?\s-[ik])(?:\s+|=)?(?!-)\S+"
        ),
        rf"\1 {HIDDEN}",
    ),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", re.S), HIDDEN),
)
HARMLESS = re.compile(r"(?i)tokens?[_ ]?(per|/)|num_tokens|tokenizer|consumed tokens|tokens:|token_path|auth_?type")


def text(line: str) -> str:
    """A line with its secrets hidden; words of training ("tokens per sample", tokenizer paths) are left alone."""
    for pattern, replacement in RULES:
        if pattern is RULES[2][0]:
            line = pattern.sub(lambda m: m[0] if HARMLESS.search(m[1] + m[2]) else f"{m[1]}{m[2]}{HIDDEN}", line)
        elif pattern is RULES[3][0]:
            line = pattern.sub(lambda m: m[0] if HARMLESS.search(m[1]) else f"{m[1]} {HIDDEN}", line)
        else:
            line = pattern.sub(replacement, line)
    return line


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables with secret names hidden."""
    secret = re.compile(rf"(?i)^{NAME}$")
    return {name: HIDDEN if secret.match(name) else text(value) for name, value in variables.items()}
