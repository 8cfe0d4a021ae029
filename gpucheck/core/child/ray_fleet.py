"""A driver of Ray that runs gpucheck once on every node, pinned to it: a process of its own, because it imports Ray.

It is given '{"address": "auto", "folder": ..., "arguments": [...], "limit": 30.0, "grace": 15.0}', and writes into the folder:
``@nodes``, for each node why it can't be used, and its address; then, for those that ``@wanted`` names with further variables of
their environment, ``NODE.json`` or ``NODE.problem``.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from typing import Any

ANSWER_SECONDS = 5.0  # for a connection to the cluster
START_SECONDS = 30.0  # for whoever started this to say which nodes are wanted


def main() -> None:
    """Connect, name the nodes, and run the check on each that is wanted."""
    asked = json.loads(sys.argv[1])
    try:
        import ray
    except ImportError:
        sys.exit('Ray is not installed here: pip install "keras-gpucheck[ray]"')
    if ":" in asked["address"] and "/" not in asked["address"]:  # Ray itself would try for minutes
        host, _, port = asked["address"].rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
        except (OSError, ValueError, OverflowError) as error:
            sys.exit(f"no cluster of Ray: nobody listens at {asked['address']} ({error})")
    try:
        ray.init(address=asked["address"], log_to_driver=False, logging_level="ERROR", ignore_reinit_error=True)
    except Exception as error:  # whatever Ray raises for an address that is none
        sys.exit(f"no cluster of Ray at {asked['address']}: {' '.join(str(error).split())[:200]}")
    named = names(ray.nodes())
    known = {name: (None if node["Alive"] else "not alive", node["NodeManagerAddress"]) for name, node in named.items()}
    put(asked["folder"], "@nodes", json.dumps(known))
    wanted = wait_for_wanted(asked["folder"])
    look(ray, asked, {name: (named[name]["NodeID"], variables) for name, variables in wanted.items()})


def names(nodes: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Nodes by their host's name; of several on one host, each with the beginning of its id."""
    hosts = [node["NodeManagerHostname"] for node in nodes]
    return {host if hosts.count(host) == 1 else f"{host}-{node['NodeID'][:8]}": node for host, node in zip(hosts, nodes)}


def wait_for_wanted(folder: str) -> dict[str, dict[str, str]]:
    """The names of the nodes to look at, each with further variables."""
    end = time.monotonic() + START_SECONDS
    while not os.path.exists(f"{folder}/@wanted"):
        if time.monotonic() > end:
            sys.exit("nobody said which nodes are wanted")
        time.sleep(0.05)
    with open(f"{folder}/@wanted", encoding="utf-8") as file:
        return dict(json.load(file))


def look(ray: Any, asked: dict[str, Any], nodes: dict[str, tuple[str, dict[str, str]]]) -> None:
    """One task for each node; a node that dies, or is late, has its problem written."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # a node need not have this very gpucheck
    task = ray.remote(num_cpus=0, max_retries=0)(check)
    waiting = {}
    for name, (node, variables) in nodes.items():
        pinned = task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False))
        waiting[pinned.remote({**variables, "NODE_NAME": name}, asked["arguments"], asked["limit"])] = name
    end = time.monotonic() + asked["limit"] + asked["grace"]
    while waiting and time.monotonic() < end:
        for done in ray.wait(list(waiting), num_returns=1, timeout=min(1.0, max(0.0, end - time.monotonic())))[0]:
            name = waiting.pop(done)
            try:
                text, problem = ray.get(done)
            except Exception as error:  # the node died, or Ray can't start a process on it
                words = " ".join(str(error).split()).partition(". ")[0]  # then come ids, which differ for each node
                text, problem = "", f"{type(error).__name__}: {words[:200]}"
            put(asked["folder"], f"{name}.json" if problem is None else f"{name}.problem", text if problem is None else problem)
    for name in waiting.values():
        put(asked["folder"], f"{name}.problem", f"no answer within {asked['limit']:g} s")


def check(variables: dict[str, str], arguments: list[str], limit: float) -> tuple[str, str | None]:
    """On the node: its own gpucheck's report, or why there is none. Ray sends this function there, so it stands for itself."""
    import os
    import shutil
    import signal
    import subprocess
    import sys

    program = shutil.which("gpucheck")
    hidden = ["CUDA_VISIBLE_DEVICES"] if os.environ.get("CUDA_VISIBLE_DEVICES") == "" else []  # by Ray: no GPU was asked for
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
            return "", f"no answer within {limit:g} s"
        if out.strip():
            return out[: 8 << 20].decode("utf-8", "replace"), None
        words = (err.decode("utf-8", "replace").strip().splitlines() or [f"ended with {child.returncode}, without a word"])[-1]
        if "No module named" not in words:
            return "", words[:300]
    return "", "no gpucheck is installed there"


def put(folder: str, name: str, text: str) -> None:
    """Write a file beside its place, and move it there."""
    aside = f"{folder}/.{name}.part"
    with open(aside, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(aside, f"{folder}/{name}")
