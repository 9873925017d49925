"""Secrets of the user's environment, scripts and logs never come back in a result."""

import json
from pathlib import Path
from typing import Any

import pytest

SECRETS = {
    "HF_TOKEN": "hf_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
    "WANDB_API_KEY": "0123456789abcdef0123456789abcdef01234567",
    "MY_PASSWORD": "correct-horse-battery-staple",
    "MINDSPEED_MM_TRAIN_PROFILER_TOKEN": "server-token-0123456789abcdef",
}
URL = "https://alice:s3cr3tpassw0rd@git.example.com/x.git"


def found_in(value: Any) -> list[str]:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return [secret for secret in [*SECRETS.values(), "s3cr3tpassw0rd"] if secret in text]


@pytest.fixture
def secret_environment(world: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Secrets in the server's environment, exported by the script, and printed into the log."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    script: Path = world.checkout.scripts["tools_json"]
    text = script.read_text(encoding="utf-8")
    exports = "".join(f"export {name}={value}\n" for name, value in SECRETS.items())
    prints = "".join(f'echo "{name}={value}"\n' for name, value in SECRETS.items())
    prints += f"echo 'cloning {URL}'\necho 'Authorization: Bearer {SECRETS['HF_TOKEN']}'\n"
    head, _, rest = text.partition("\n")
    script.write_text(f"{head}\n{exports}{rest}\n{prints}", encoding="utf-8")
    return script


async def test_reading_and_checking_return_no_secret(call: Any, secret_environment: Path) -> None:
    for tool in ("detect_engine", "check_env"):
        assert found_in(await call(tool, script=str(secret_environment))) == [], tool


@pytest.mark.slow
async def test_a_whole_job_returns_no_secret(call: Any, run_to_end: Any, world: Any, secret_environment: Path) -> None:
    built, status = await run_to_end(secret_environment)
    diffs = [copy.pop("diff", "") for copy in built["copies"]]
    assert found_in({**built, "_text": ""}) == [], "the build"
    assert not any(found_in(diff) for diff in diffs), "a diff shows changed lines, and none of these is changed"
    assert found_in(status) == [], "the status"
    for tool in ("poll_status", "verify_output"):
        assert (
            found_in(await call(tool, run_id=status["run_id"], **({"log_lines": 200} if tool == "poll_status" else {})))
            == []
        )
    assert found_in(await call("list_runs")) == []


def test_the_audit_log_holds_no_environment(world: Any, secret_environment: Path) -> None:
    log = world.state / "audit.log"
    assert not log.exists() or found_in(log.read_text(encoding="ascii")) == []
