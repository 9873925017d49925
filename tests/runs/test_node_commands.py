"""What a user is told to start on every node of a job without Slurm: it must do there what the build was proven to do."""

import shlex
from typing import Any

import pytest

from mindspeed_mm_train_profiler.runs.preflight import node_commands

BUILD = {"nnodes": 2, "nodes": 2, "workdir": "/data/my mm", "argv": ["bash", "/data/my mm/a.sh"], "master_port": 6000}


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("node-0.cluster", "node-0.cluster"),
        ("fd00::1", "fd00::1"),
        # each node would wait for itself
        *((own, "ADDRESS_OF_NODE_0") for own in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "", None)),
        # nobody filled it in, and it is no shell word
        *((unfilled, "ADDRESS_OF_NODE_0") for unfilled in ("_master_ip_address_", "IP FOR MASTER NODE", "$(id)")),
    ],
)
def test_every_node_is_told_an_address_that_it_can_reach(address: str | None, told: str) -> None:
    commands = node_commands({**BUILD, "master_addr": address})
    assert len(commands) == 3
    for rank, command in enumerate(commands[:2]):
        assert {f"MM_PROFILER_MASTER_ADDR={told}", f"MM_PROFILER_NODE_RANK={rank}"} <= set(shlex.split(command))


@pytest.mark.parametrize("nodes", [2, None])
def test_the_variables_that_the_build_was_made_with_are_set(nodes: int | None) -> None:
    build: dict[str, Any] = {**BUILD, "nodes": nodes, "env": {"NPUS_PER_NODE": "4", "NAME": "a b"}}
    commands = node_commands(build)
    for command in commands[:2]:
        assert {"NPUS_PER_NODE=4", "NAME=a b"} <= set(shlex.split(command))
    for line in commands[2:]:
        assert {"NPUS_PER_NODE=4", "NAME=a b"} <= set(shlex.split(shlex.split(line)[-1]))


def test_pdsh_takes_no_other_percent_for_its_own() -> None:
    """pdsh 2.34 puts the host's name for %h and the user's for %u, also with ssh; %% is a percent."""
    *_, line = node_commands({**BUILD, "workdir": "/data/100%h", "argv": ["bash", "a%u.sh"]})
    command = shlex.split(line)[-1]
    assert "/data/100%%h" in command and "a%%u.sh" in command and "MM_PROFILER_NODE_RANK=%n " in command
