import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def sessions() -> ModuleType:
    """The session writer beside this file."""
    spec = importlib.util.spec_from_file_location("profile_sessions", Path(__file__).with_name("sessions.py"))
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
