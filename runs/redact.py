"""Secrets never leave in a result: tokens, keys, passwords, URLs with credentials, in log lines and environments.

A secret is known by the name before it, by its own shape, by the program it is given to, or by its value: what the
run's environment holds under a secret name is hidden wherever a log repeats it. Names are searched without what stands
before them, and every repetition is bounded: a line costs no more than its length.
"""

import re
from collections.abc import Callable, Iterable, Mapping

HIDDEN = "[hidden]"
WORD = (
    r"(?:token|secret|passw(?:or)?d|passphrase|credential|cookie|signature|auth(?:orization)?(?!or|entic)"
    r"|(?:api|access|private|secret|encryption|signing|license|wandb|swanlab|comet|account|storage|master)[_-]?key"
    r"|(?:access|secret)_?id\b|(?<=[a-z]_)(?:pwd|pass|sk|ak)\b|(?<=SSH)PASS\b)"
)
NAME = rf"{WORD}[\w.-]{{0,40}}"
VALUE = r"(\"[^\"]*(?:\"|$)|'[^']*(?:'|$)|(?:(?:bearer|basic|token)\s+)?[^\s,;&\"')]+)"
"""Quoted, to the end of the line where the second quote was cut off; or a word."""
CHINESE = r"(?:密码|口令|令牌|密钥|私钥|凭证|验证码)"
HARMLESS = re.compile(r"(?i)tokens?[_ ]?(per|/)|num_tokens|tokenizer|consumed tokens|tokens\b|token_path|auth_?type")
PLAIN = re.compile(r"(?i)-?\d{1,7}(\.\d+)?(e[+-]?\d+)?|true|false|none|null|<.*|\[.*|/.*")
"""Values that no access token has: token ids, flags, special tokens of a vocabulary, paths."""

Rule = tuple["re.Pattern[str]", "str | Callable[[re.Match[str]], str]"]


def _named(found: "re.Match[str]") -> str:
    """Hide a value behind a secret name, unless it is one of training's many tokens."""
    name, between, value = found[1], found[2], found[3]
    before = found.string[max(0, found.start() - 20) : found.start()]
    if HARMLESS.search(before + name + between) or value.startswith(HIDDEN):
        return found[0]
    if "token" in name.lower() and (
        PLAIN.fullmatch(value.strip("\"'")) or (".." in between and not name.lower().endswith("token"))
    ):
        return found[0]
    return f"{name}{between}{HIDDEN}"


RULES: tuple[Rule, ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", re.S), HIDDEN),
    (re.compile(r"(?i)\b((?:set-)?cookie\s*[:=]\s*).*"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)((?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://[^/\s:@]*:)(?!\d+/)\S*@"), rf"\1{HIDDEN}@"),
    (re.compile(r"(?i)((?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://)(?!git@)[^/\s]*@"), rf"\1{HIDDEN}@"),
    (re.compile(r"\b(bearer|basic)\s+(?=[A-Za-z]*[\d._~+/=-])[A-Za-z0-9._~+/=-]{8,}", re.I), rf"\1 {HIDDEN}"),
    (re.compile(rf"(?i)({NAME})([\"']?\]?\s*[=:：]\s*|\s\.{{3,}}\s+|\(\s*(?=[\"']))" + VALUE), _named),
    (re.compile(rf"(?i)(--[\w-]{{0,60}}(?:{WORD}|[_-]key(?![\w-]))[\w-]{{0,40}})(\s+)((?!-)\S+)"), _named),
    (re.compile(rf"(?i)\b({WORD}|api key|access key)(\s+(?:is\s+)?)(\"[^\"]+\"|'[^']+'|(?<=is )\S*\d\S*)"), _named),
    (re.compile(rf"({CHINESE}\s*(?:[=:：]|为|是)\s*)\S+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)([?&](?:key|sig|sign|code|ticket)=)[^&\s\"']+"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)(\b(?:sig|signature)=)[^&\s\"']{6,}"), rf"\1{HIDDEN}"),
    (re.compile(r"(?i)(\blogin\([^()]{0,80}?key\s*=\s*)[\"'][^\"']+[\"']?"), rf"\1{HIDDEN}"),
    (re.compile(r"(hooks\.slack\.com/services/|/bot/v2/hook/)[^\s\"']+"), rf"\1{HIDDEN}"),
    # what the providers' own tokens begin with
    (
        re.compile(
            r"(?<![A-Za-z0-9_-])(?:hf_|sk-|ghp_|gho_|ghs_|glpat-|github_pat_|xox[abp]-|AKIA|AKID|AIza|LTAI|npm_|dckr_pat_"
            r"|pypi-|ya29\.)[A-Za-z0-9_-]{10,}|\bms-[0-9a-f]{8}-[0-9a-f-]{20,}"
        ),
        HIDDEN,
    ),
    (re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}"), HIDDEN),
    # short names of object stores, and a password that is no path: PWD=/home is one
    (
        re.compile(
            r"(?i)(?<![\w.-])(ak|sk|pwd|pw|pass|(?-i:KEY))([\"']?\s*[=:]\s*[\"']?)(?![/~.$]|\d\b)[^\s,;&\"'/]{3,}"
        ),
        rf"\1\2{HIDDEN}",
    ),
    # options that only with these programs are a password
    (
        re.compile(
            r"(?i)\b((?:sshpass|mysql\w{0,9}|(?:docker|podman)\s+login|mc\s+alias)\b.{0,200}?\s-p|redis-cli\b.{0,200}?\s-a"
            r"|(?:curl|wget)\b.{0,200}?\s(?:-u|--user|--proxy-user)|obsutil\b.{0,200}?\s-[ik])(?:\s+|=)?(?!-)\S+"
        ),
        rf"\1 {HIDDEN}",
    ),
    (
        re.compile(r"\b((?:wandb|swanlab|huggingface-cli|hf|modelscope)\s+login(?:\s+-{1,2}[\w-]+)?\s+)(?!-)\S+"),
        rf"\1{HIDDEN}",
    ),
    (
        re.compile(r"\b((?:echo|printf)\s+)[^|]{1,200}(\|\s*(?:sudo\s+-S|chpasswd|(?:docker|podman|helm)\b.*stdin))"),
        rf"\1{HIDDEN} \2",
    ),
    (re.compile(r"^\s*(?=\S*\d)[A-Za-z0-9+/]{60,}={0,2}\s*$"), HIDDEN),  # a line of a key's body
)
SECRET = re.compile(rf"(?i)^[\w.-]*?{NAME}$")
KEY_BEGIN, KEY_END = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"), re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")


def text(line: str, known: Iterable[str] = ()) -> str:
    """A line with its secrets hidden; words of training ("tokens per sample", tokenizer paths) are left alone.

    ``known``: values that are secret whatever stands around them. A line is cut after this, never before: half a secret
    is not recognised.
    """
    for value in known:
        line = line.replace(value, HIDDEN)
    for pattern, replacement in RULES:
        line = pattern.sub(replacement, line)
    return line


def lines(given: Iterable[str], known: Iterable[str] = ()) -> list[str]:
    """Lines that follow each other: the body of a private key is hidden between its first and its last line."""
    shown, inside, known = [], False, tuple(known)
    for line in given:
        inside = inside or KEY_BEGIN.search(line) is not None
        shown.append(HIDDEN if inside else text(line, known))
        inside = inside and KEY_END.search(line) is None
    return shown


def values(variables: Mapping[str, object]) -> list[str]:
    """What an environment holds under secret names, longest first; short and plain words would hide too much."""
    found = {str(value) for name, value in variables.items() if SECRET.match(name)}
    return sorted((v for v in found if len(v) >= 8 and not PLAIN.fullmatch(v)), key=len, reverse=True)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Variables with secret names hidden."""
    return {name: HIDDEN if SECRET.match(name) else text(value) for name, value in variables.items()}
