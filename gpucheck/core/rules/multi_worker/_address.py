"""The address of a worker in the output of TensorFlow, PyTorch, gRPC and NCCL."""

import re

import msgspec

from gpucheck.core.model import Fix
from gpucheck.core.model.naming import WORKER
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import word

_ADDRESS = r"\[?(?P<host>[\w.%-]+|[\w:%.]*:[\w:%.]*?)\]?[:<, ]+(?P<port>\d{2,5})\b"
_IN_TEXT = r"ipv[46]:(\[[\w:%.]+\]:\d+|[\w.-]+:\d+)|Address already in use:? *(\S+:\d+)"


class Address(msgspec.Struct, frozen=True):
    """Host and port of a worker, and its name in the cluster; empty: unknown."""

    host: str = ""
    port: str = ""
    task: str = ""  # "worker 1"

    @property
    def machine(self) -> str:
        """The machine, as part of a sentence."""
        return self.host or (f"the machine of {self.task}" if self.task else "that machine")

    @property
    def worker(self) -> str:
        """The worker, as part of a sentence."""
        return self.task or (f"the worker on {self.host}" if self.host else "the one that does not respond")

    def test(self, context: Context) -> Fix:
        """Return the fix that tests a connection to it."""
        if not self.host or not self.port:
            named = "" if context.excludes(framework="tensorflow") else ", with the address of that task in TF_CONFIG"
            return Fix(text=f"Test the connection from this machine{named}: nc -zv HOST PORT")
        command = f"nc -zv {word(self.host)} {self.port}"
        if context.windows:
            command = f"Test-NetConnection {self.host} -Port {self.port}"
        return Fix.look("Test the connection from this machine", command)

    def open(self) -> Fix:
        """Return the fix that opens its port."""
        port = self.port or "PORT"
        return Fix(
            text=f"Open the port on {self.machine}: sudo ufw allow {port}/tcp, or sudo firewall-cmd --add-port={port}/tcp",
            needs=("sudo",),
        )

    def start(self) -> Fix:
        """Return the fix that starts the worker."""
        listening = f", which must listen on port {self.port}" if self.port else ""
        return Fix(text=f"Start the program on every worker, and read the output of {self.worker}{listening}")

    def listening(self, where: str) -> Fix:
        """Return the fix that finds the program on its port."""
        port = self.port or "PORT"
        return Fix(
            text=f"Find the program that listens on {f'port {port}' if self.port else 'its port'} on {where}:"
            f" sudo ss -ltnp | grep {port}; end it if it is an earlier run, or use another port",
            needs=("sudo",),
        )


def address_in(address: str, text: str = "") -> Address:
    """Return the address in a line.

    Args:
        address: "10.0.0.7:2222", "10.0.0.5<33092", "node-0, 29500", "/job:worker/replica:0/task:1"; empty: unknown.
        text: the line.
    """
    task = re.search(WORKER, address) or re.search(WORKER, text)
    inner = re.search(_IN_TEXT, text)
    match = re.match(_ADDRESS, address if not address.startswith("/job:") else "") or re.match(
        _ADDRESS, (inner[1] or inner[2]) if inner else ""
    )
    host, port = (match["host"], match["port"]) if match else ("", "")
    return Address("" if host.strip("0.:") == "" else host, port, f"{task[1]} {task[2]}" if task else "")
