"""Plugin, marketplace and registry manifests: one version, valid shapes, nothing that the registries refuse."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import mindspeed_mm_train_profiler as package
from mindspeed_mm_train_profiler.reference import recipes
from mindspeed_mm_train_profiler.settings import PREFIX

ROOT = Path(package.__file__).parent
pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="not a source checkout")


def load(name: str) -> Any:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def test_every_manifest_says_the_packages_version() -> None:
    server = load("server.json")
    marketplace = load(".claude-plugin/marketplace.json")
    said = {
        server["version"],
        server["packages"][0]["version"],
        load(".claude-plugin/plugin.json")["version"],
        marketplace["metadata"]["version"],
        marketplace["plugins"][0]["version"],
    }
    assert said == {package.__version__}


def test_the_project_configuration_is_the_local_recipe() -> None:
    (claude_code,) = [client for client in recipes.CLIENTS if client.id == "claude_code"]
    texts = [block.text for block in claude_code.blocks["local"] if block.file == ".mcp.json"]
    assert [json.loads(text) for text in texts] == [load(".mcp.json")]


def test_the_plugin() -> None:
    plugin = load(".claude-plugin/plugin.json")
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", plugin["name"])
    assert set(plugin) <= {
        "name", "version", "description", "author", "homepage", "repository", "license", "keywords", "mcpServers",
    }  # fmt: skip
    assert plugin["mcpServers"].startswith("./") and (ROOT / plugin["mcpServers"]).is_file()
    assert not (ROOT / "skills").exists()  # otherwise the SKILL.md in the root would not be taken


def test_the_marketplace_offers_this_repository() -> None:
    marketplace = load(".claude-plugin/marketplace.json")
    assert {"name", "owner", "plugins"} <= set(marketplace) and marketplace["owner"]["name"]
    (plugin,) = marketplace["plugins"]
    assert plugin["source"].startswith("./")
    assert (ROOT / plugin["source"] / ".claude-plugin" / "plugin.json").is_file()
    assert plugin["name"] == load(".claude-plugin/plugin.json")["name"]


def test_the_registry_entry_keeps_the_registrys_rules() -> None:
    """The rules of schema 2025-12-11, read from the registry's own text."""
    server = load("server.json")
    assert server["$schema"].endswith("/2025-12-11/server.schema.json")
    assert set(server) <= {
        "$schema", "name", "title", "description", "version", "packages", "remotes", "repository", "websiteUrl",
        "icons", "_meta",
    }  # fmt: skip
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"]) and len(server["name"]) <= 200
    assert 1 <= len(server["description"]) <= 100
    assert 1 <= len(server["title"]) <= 100
    assert re.fullmatch(r"\d+\.\d+\.\d+(\S*)", server["version"])
    for item in server["packages"]:
        assert {"registryType", "identifier", "transport"} <= set(item)
        assert item["transport"] == {"type": "stdio"}
        for variable in item["environmentVariables"]:
            assert variable["name"].startswith(PREFIX) and variable["description"]
            assert variable.get("format", "string") in {"string", "number", "boolean", "filepath"}
            assert isinstance(variable.get("default", ""), str)


def test_the_variables_of_the_registry_entry_exist() -> None:
    source = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("settings.py", "state.py"))
    for variable in load("server.json")["packages"][0]["environmentVariables"]:
        name = variable["name"]
        assert f'"{name.removeprefix(PREFIX)}"' in source or f'"{name}"' in source, name


def test_the_readme_proves_the_package_to_the_registry() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"mcp-name: {load('server.json')['name']}" in readme
