"""A Ray driver that runs gpucheck once on every node: a separate process, because it imports Ray.

Its argument is '{"address": "auto", "folder": ..., "arguments": [...], "limit": 30.0, "grace": 15.0}'. It writes into the folder
``@nodes``: each node's address, and why it can't be used; then ``NODE.json`` or ``NODE.problem`` for each node in ``@selected``,
which maps nodes to additional environment variables.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

from gpucheck.core.system.write import replace

NODES, SELECTED = "@nodes", "@selected"  # files: the nodes of the cluster, and those to check
ANSWER_SECONDS = 5.0  # for a connection to the cluster
START_SECONDS = 30.0  # for the parent process to write the selected nodes


def main() -> None:
    """Connect, list the nodes, and run the check on each selected node."""
    options = json.loads(sys.argv[1])
    try:
        import ray
    except ImportError:
        sys.exit(f"Ray is not installed here: {sys.executable} -m pip install ray")
    if ":" in options["address"] and "/" not in options["address"]:  # Ray itself would retry for minutes
        host, _, port = options["address"].rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
        except (OSError, ValueError, OverflowError) as error:
            sys.exit(f"no Ray cluster: can't connect to {options['address']} ({error})")
    try:
        ray.init(address=options["address"], log_to_driver=False, logging_level="ERROR", ignore_reinit_error=True)
    except Exception as error:  # Ray raises various errors for an invalid address
        sys.exit(f"no Ray cluster at {options['address']}: {' '.join(str(error).split())[:200]}")
    named = names(ray.nodes())
    known = {name: (None if node["Alive"] else "not alive", node["NodeManagerAddress"]) for name, node in named.items()}
    replace(f"{options['folder']}/{NODES}", json.dumps(known).encode())
    selected = wait_for_selection(options["folder"])
    check_nodes(ray, options, {name: (named[name]["NodeID"], variables) for name, variables in selected.items()})


def names(nodes: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the nodes by host name; several on one host get the first characters of their id as a suffix."""
    hosts = [node["NodeManagerHostname"] for node in nodes]
    return {
        host if hosts.count(host) == 1 else f"{host}-{node['NodeID'][:8]}": node for host, node in zip(hosts, nodes, strict=True)
    }


def wait_for_selection(folder: str) -> dict[str, dict[str, str]]:
    """Wait for the nodes to check, each with additional environment variables."""
    end = time.monotonic() + START_SECONDS
    while not os.path.exists(f"{folder}/{SELECTED}"):
        if time.monotonic() > end:
            sys.exit("timed out waiting for the list of selected nodes")
        time.sleep(0.05)
    with open(f"{folder}/{SELECTED}", encoding="utf-8") as file:
        return dict(json.load(file))


def check_nodes(ray: Any, options: dict[str, Any], nodes: dict[str, tuple[str, dict[str, str]]]) -> None:
    """Run one task per node; write the problem of a node that dies or times out."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # nodes may have another version of gpucheck
    task = ray.remote(num_cpus=0, max_retries=0)(check)
    waiting = {}
    for name, (node, variables) in nodes.items():
        pinned = task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False))
        waiting[pinned.remote({**variables, "NODE_NAME": name}, options["arguments"], options["limit"])] = name
    end = time.monotonic() + options["limit"] + options["grace"]
    while waiting and time.monotonic() < end:
        for done in ray.wait(list(waiting), num_returns=1, timeout=min(1.0, max(0.0, end - time.monotonic())))[0]:
            name = waiting.pop(done)
            try:
                text, problem = ray.get(done)
            except Exception as error:  # the node died, or Ray can't start a process on it
                words = " ".join(str(error).split()).partition(". ")[0]  # without the ids that follow, which differ between nodes
                text, problem = "", f"{type(error).__name__}: {words[:200]}"
            write(options["folder"], name, text, problem)
    for name in waiting.values():
        write(options["folder"], name, "", f"no response within {options['limit'] + options['grace']:g} s")


def check(variables: dict[str, str], arguments: list[str], limit: float) -> tuple[str, str | None]:
    """Run the node's gpucheck; return its report, or the problem. Self-contained, because Ray sends this function to the node."""
    import os
    import shutil
    import signal
    import subprocess
    import sys

    program = shutil.which("gpucheck")
    hidden = ["CUDA_VISIBLE_DEVICES"] if os.environ.get("CUDA_VISIBLE_DEVICES") == "" else []  # by Ray: the task requests no GPU
    env = {name: value for name, value in {**os.environ, **variables}.items() if name not in hidden}
    for argv in [[sys.executable, "-m", "gpucheck"], *([[program]] if program else [])]:
        child = subprocess.Popen(
            [*argv, *arguments], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            out, err = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return "", f"no response within {limit:g} s"
        if out.strip():
            return out[: 8 << 20].decode("utf-8", "replace"), None
        words = (err.decode("utf-8", "replace").strip().splitlines() or [f"exited with status {child.returncode}, no output"])[-1]
        if "No module named" not in words:
            return "", words[:300]
    return "", "gpucheck is not installed there"


def write(folder: str, name: str, text: str, problem: str | None) -> None:
    """Write a node's report, or why it has none."""
    file, content = (f"{name}.json", text) if problem is None else (f"{name}.problem", problem)
    replace(f"{folder}/{file}", content.encode())
