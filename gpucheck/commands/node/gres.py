"""The number of GPUs that this machine's scheduler assigns: Slurm's Gres, or those registered by Kubernetes' device plugin.

Both are read from local files: a Prolog must not query slurmctld, and a check of a node needs no network.
Sources: slurm.conf(5), "NODE CONFIGURATION" and "Include"; kubernetes pkg/kubelet/cm/devicemanager/manager.go, writeCheckpoint.
"""

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from gpucheck.core.cluster import slurm
from gpucheck.core.model import PromisedGpus

SLURM_CONFIGURATIONS = (
    "/etc/slurm/slurm.conf",
    "/run/slurm/conf/slurm.conf",
    "/etc/slurm-llnl/slurm.conf",
    "/opt/slurm/etc/slurm.conf",
    "/usr/local/etc/slurm.conf",
)
KUBELET_CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
KUBERNETES_RESOURCE = "nvidia.com/gpu"
MOST_FILES = 50  # maximum number of included configuration files
Read = Callable[[str], str | None]  # a file's text; None: it can't be read


class _UnreadInclude(Exception):
    """A file that slurm.conf includes can't be read."""


def promised(requested: str, env: Mapping[str, str], hostname: str, read: Read) -> PromisedGpus:
    """Return the number of GPUs that a scheduler assigns here.

    Args:
        requested: a number, "slurm" or "kubernetes".
        env: may contain the node's name and slurm.conf, which slurmd sets for its programs.
        hostname: this machine's host name.
        read: reads a file.
    """
    if requested == "slurm":
        return of_slurm(env.get("SLURMD_NODENAME") or hostname.partition(".")[0], env.get("SLURM_CONF"), read)
    if requested == "kubernetes":
        return of_kubernetes(read)
    return PromisedGpus(count=int(requested), source="--gres")


def of_slurm(node: str, path: str | None, read: Read) -> PromisedGpus:
    """Return the number of the Gres type "gpu" in the node's line of slurm.conf."""
    paths = (path,) if path else SLURM_CONFIGURATIONS
    for name in paths:
        text = read(name)
        if text is None:
            continue
        default = ""
        try:
            for words in _node_lines(name, text, read):
                names, gres = words.get("nodename", ""), words.get("gres", default)
                if names.upper() == "DEFAULT":
                    default = gres
                elif _names(names, node):
                    return PromisedGpus(count=gpus(gres), source=f"Gres of {node} in {name}")
        except _UnreadInclude as error:
            return PromisedGpus(count=None, source=str(error))
        return PromisedGpus(count=None, source=f"{name} has no line for the node {node}")
    return PromisedGpus(count=None, source=f"cannot read {' or '.join(paths)}{'' if path else '; set SLURM_CONF'}")


def gpus(gres: str) -> int:
    """Count the GPUs in a list of generic resources: 6 for "gpu:h200:4(S:0-1),gpu:2,craynetwork:1"."""
    total = 0
    for part in re.sub(r"\([^)]*\)", "", gres).split(","):
        name, *rest = part.strip().split(":")
        if name.lower() == "gpu":
            last = next((word for word in reversed(rest) if re.fullmatch("[0-9]{1,9}", word)), None)
            total += 1 if last is None else int(last)
    return total


def of_kubernetes(read: Read) -> PromisedGpus:
    """Count the healthy devices in the kubelet's checkpoint; each time-sliced device is counted once."""
    text = read(KUBELET_CHECKPOINT)
    if text is None:
        return PromisedGpus(count=None, source=f"cannot read {KUBELET_CHECKPOINT}")
    try:
        registered = json.loads(text)["Data"]["RegisteredDevices"]
        others = any(devices for name, devices in registered.items() if name.startswith("nvidia.com/"))  # MIG, time slicing
        devices = registered.get(KUBERNETES_RESOURCE) or ()
        names = {str(device).partition("::")[0] for device in devices}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return PromisedGpus(count=None, source=f"{KUBELET_CHECKPOINT} is not a checkpoint of a kubelet")
    if not names:  # the plugin has not started yet, or has failed; or its devices are not whole GPUs
        why = "only parts of GPUs are" if others else "no GPU is"
        return PromisedGpus(count=None, source=f"{why} registered with the kubelet")
    return PromisedGpus(count=len(names), source=f"{KUBERNETES_RESOURCE} of the device plugin")


def _node_lines(path: str, text: str, read: Read) -> Iterator[dict[str, str]]:
    """Yield the NodeName lines as values by lower-case key; included files are read in place.

    Raises:
        _UnreadInclude: an included file, which may have the node's line or its defaults, can't be read.
    """
    left = [MOST_FILES]
    named = re.search(r"(?im)^\s*ClusterName\s*=\s*(\w+)", text)
    cluster = named[1] if named else "%c"  # Slurm replaces it

    def lines(folder: str, content: str) -> Iterator[dict[str, str]]:
        for line in re.sub(r"\\\n", " ", content).splitlines():
            line = line.partition("#")[0].strip()
            if include := re.match(r"include\s+(\S+)", line, re.IGNORECASE):
                left[0] -= 1
                if left[0] < 0:
                    raise _UnreadInclude(f"{path} includes more than {MOST_FILES} files")
                place = posixpath.join(folder, include[1].replace("%c", cluster))
                if (more := read(place)) is None:
                    raise _UnreadInclude(f"cannot read {place}, which {path} includes")
                yield from lines(folder, more)
            elif line.lower().startswith("nodename"):
                yield {key.lower(): value.strip('"') for key, value in re.findall(r'(\w+)\s*=\s*("[^"]*"|\S+)', line)}

    return lines(posixpath.dirname(path), text)


def _names(names: str, node: str) -> bool:
    try:
        return node in slurm.expand(names)
    except ValueError:
        return False
