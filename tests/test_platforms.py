"""macOS and native Windows, as a fake host: every quick probe returns, and the verdict names the platform."""

import ast
import pathlib
import time

import pytest
from fakes import FakeChild, FakeHost

import gpucheck
from gpucheck.core.child.messages.drivers import LibraryLoaded
from gpucheck.core.engine.discovery import load_probes, load_rows, load_rules
from gpucheck.core.engine.judgement import judge
from gpucheck.core.engine.observation import Observation
from gpucheck.core.engine.pipeline import assemble, gather
from gpucheck.core.model import Level, ProbeStatus, Request

ABSENT = LibraryLoaded("library-not-found", problem="NVIDIA makes no driver for it")


def report(platform, uname, allow_cpu, **options):
    """A quick run on a machine of this platform, with TensorFlow but without NVIDIA software."""
    request = Request(level=Level.QUICK, allow_cpu=allow_cpu)
    folder = "/opt/python/lib/python3.12"
    site = f"{folder}/site-packages"
    host = FakeHost(
        {
            f"{site}/tensorflow/__init__.py": "",
            f"{site}/tensorflow-2.21.0.dist-info/METADATA": "Name: tensorflow\nVersion: 2.21.0\nRequires-Python: >=3.10\n\n",
            f"{site}/keras-3.15.1.dist-info/METADATA": "",
        },
        folders=("/tmp",),
        platform=platform,
        uname=uname,
        request=request,
        interpreter={
            "executable": "/opt/python/bin/python3.12",
            "version": "3.12.3",
            "implementation": "cpython",
            "prefix": "/opt/python",
            "base_prefix": "/opt/python",
            "path": [folder, site],
            "bits": 64,
            "platform": platform,
            "stdlib": folder,
        },
        children={"nvml": FakeChild(ABSENT), "cuda": FakeChild(ABSENT)},
        user=None if platform == "win32" else 501,
        processors=(8, None),
        **options,
    )
    readings = Observation(host, load_probes()).wait()
    failed = {one.probe: one.problem for one in readings if one.status not in (ProbeStatus.OK, ProbeStatus.SKIPPED)}
    assert failed == {}
    return assemble(request, readings, judge(gather(request, readings), load_rules()), load_rows(), time.monotonic())


MAC = ("darwin", ("Darwin", "24.6.0", "arm64"))
WINDOWS = ("win32", ("Windows", "10", "AMD64"))


@pytest.mark.parametrize(("machine", "code"), [(MAC, "macos-no-cuda"), (WINDOWS, "windows-native-unsupported")])
def test_platform_is_the_root_cause(machine, code):
    got = report(*machine, allow_cpu=False)
    assert got.findings[0].code == code
    assert [finding.code for finding in got.findings if not finding.explained_by] == [code]
    assert (got.verdict.value, got.exit_code) == ("fail", 1)


@pytest.mark.parametrize("machine", [MAC, WINDOWS])
def test_cpu_passes_if_allowed(machine):
    got = report(*machine, allow_cpu=True)
    assert [finding.code for finding in got.findings] == []
    assert (got.verdict.value, got.exit_code) == ("pass", 0)


ROOT = pathlib.Path(gpucheck.__file__).parent
UNIX_ONLY = {"fcntl", "grp", "pwd", "pty", "resource", "termios", "syslog"}


def test_unix_only_modules_are_not_imported_at_the_top_level():
    """Allowed inside functions; at the top level, it would prevent the start on other platforms."""
    found = []
    for file in ROOT.rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            found += [f"{file.relative_to(ROOT)}: {name}" for name in names if name.partition(".")[0] in UNIX_ONLY]
    assert found == []
