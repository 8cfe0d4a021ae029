"""Libraries opened in a child: one that kills it is named, and another child opens the others."""

import itertools

from fakes import FakeChild, FakeHost
from site_packages import INTERPRETER, WHEELS, site
from tiny_elf import needs_cc

from gpucheck.core.child.messages import Stage
from gpucheck.core.child.messages.machine import LibraryOpened
from gpucheck.core.model import Level, Request
from gpucheck.core.probes import libraries

pytestmark = needs_cc


class Children:
    """Children of a host, each started with the libraries left by the previous one."""

    def __init__(self, *endings):
        self.endings, self.started, self.limits = list(endings), [], []

    def child(self, task, limit=30.0):
        self.started.append([soname for soname, _ in task.paths])
        self.limits.append(limit)
        how, soname = self.endings.pop(0)
        before = itertools.takewhile(lambda other: other != soname, self.started[-1])
        return FakeChild(*((other, LibraryOpened()) for other in before), how=how, stage=soname and Stage("dlopen", soname))


def opened(*endings, level=Level.DEFAULT, wheels=WHEELS):
    host = FakeHost(site(wheels=wheels), interpreter=INTERPRETER, request=Request(level=level))
    children = Children(*endings)
    host.child = children.child
    return {one.soname: one for one in libraries.read(host).libraries}, children


def test_library_that_kills_the_child_is_named_and_the_others_are_opened():
    found, children = opened(("killed by SIGBUS", "libcublas.so.12"), ("killed by SIGSEGV", "libcudnn.so.9"), ("finished", None))
    outcome = {soname: (one.opened, one.open_error) for soname, one in found.items()}
    assert outcome["libcublas.so.12"] == (False, "killed by SIGBUS")
    assert outcome["libcudnn.so.9"] == (False, "killed by SIGSEGV")
    assert outcome["libcufft.so.11"] == outcome["libnccl.so.2"] == (True, None)
    assert outcome["libcusolver.so.11"] == (None, None)  # no copy to open
    assert "libcublas.so.12" not in children.started[1]
    assert len(children.started) == 3
    assert children.limits[0] <= 20.0


def test_opening_stops_after_three_restarts():
    sonames = ["libcudart.so.12", "libcublas.so.12", "libcublasLt.so.12", "libcufft.so.11", "libcusparse.so.12"]
    found, children = opened(*[("killed by SIGBUS", soname) for soname in sonames])
    assert len(children.started) == 4
    assert found["libcusparse.so.12"].opened is None


def test_library_that_times_out_is_not_called_broken():
    found, children = opened(("timed out", "libcublasLt.so.12"))
    assert (found["libcublasLt.so.12"].opened, found["libcublasLt.so.12"].open_error) == (None, "timed out")
    assert found["libcufft.so.11"].opened is None
    assert len(children.started) == 1


def test_libraries_are_not_opened_without_need():
    assert opened(level=Level.QUICK)[1].started == []
    assert opened(wheels={"nccl": "2.27.7"})[1].started == []
