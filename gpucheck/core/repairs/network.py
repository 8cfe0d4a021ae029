"""Repairs of the network between the machines of a job."""

import re

from gpucheck.core.model import Fix, Fixes

# Interfaces inside one machine, unreachable from others; Docker's first network is 172.17.0.0/16.
_OWN = r"(?:lo\d*|docker\d*|br-\w+|virbr\d*|veth\w+|podman\d*|cni\w*|flannel\S*|cali\w+|tun\d*|tailscale\d*)$"


def other_interface(interface: str = "", asked: str = "", address: str = "") -> Fixes:
    """Make NCCL use the network that the machines share.

    Args:
        interface: the interface that NCCL uses.
        asked: the value of NCCL_SOCKET_IFNAME.
        address: the unreachable one.
    """
    used = interface or asked.lstrip("=") or ("docker0" if address.startswith("172.17.") else "")
    if re.match(_OWN, used):
        names = dict.fromkeys([re.sub(r"^docker\d*$", "docker", used), "docker", "lo"])
        yield Fix(
            text=f"Keep NCCL off {used}, which other machines can't reach",
            command=f"export NCCL_SOCKET_IFNAME=^{','.join(names)}",
        )
    elif asked and not interface:
        yield Fix(
            text=f"Let NCCL choose the interface: NCCL_SOCKET_IFNAME is {asked}, which this machine may not have",
            command="unset NCCL_SOCKET_IFNAME",
        )
    else:
        yield Fix(
            text="Keep NCCL off this machine's inner interfaces, or name the one that they share: NCCL_SOCKET_IFNAME=eth0",
            command="export NCCL_SOCKET_IFNAME=^docker,virbr,lo",
        )
    yield Fix.look("List the interfaces with their addresses", "ip -br address")
