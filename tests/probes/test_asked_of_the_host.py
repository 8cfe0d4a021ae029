"""What a probe asks a machine for, and answers too long for a file of cases."""

import re

import pytest
from case_files import table
from fakes import FakeChild, FakeHost

from gpucheck.core.model import Level, Request
from gpucheck.core.probes import cluster, environment, interpreter, kernel_log, pci, tensorflow, training
from gpucheck.core.probes.limits import oom_kills

QUICK = Request(level=Level.QUICK)
ROOT = "/sys/fs/cgroup"
STAT = {"/proc/stat": "cpu 1 2 3\nbtime 1772352000\n"}  # 2026-03-01 08:00 UTC
LOST = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."


@table
def test_kills_for_want_of_memory(group, mount, files, kills):
    tables = {"/proc/self/cgroup": group, "/proc/self/mountinfo": f"40 30 0:30 {mount}\n"}
    own = {f"{ROOT}/{path}": text for path, text in files.items()}
    assert oom_kills(FakeHost({**tables, **own, "/proc/vmstat": "pgfault 5\noom_kill 3\n"})) == kills
    assert oom_kills(FakeHost(tables)) is None


def test_a_kill_counts_even_if_the_child_died_before_the_second_probe_looked():
    class Machine(FakeHost):
        def child(self, task, limit=30.0):
            self._files["/proc/vmstat"] = b"oom_kill 4\n"  # killed as soon as it is started
            return FakeChild(how="killed by SIGKILL")

    machine = Machine({"/proc/vmstat": "oom_kill 3\n"})
    assert [probe.read(machine).oom_kills for probe in (training, tensorflow)] == [1, 1]


@pytest.mark.parametrize("value", ["", "  \n"])
def test_an_empty_tf_config_is_none(value):
    assert not cluster.read(FakeHost(env={"TF_CONFIG": value}, request=QUICK)).configured


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("[" * 200_000, "it is no JSON that can be read: its brackets are nested too deeply"),
        ('{"cluster":' * 200_000, "it is no JSON that can be read: its brackets are nested too deeply"),
        ('{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": "%s"}}' % ("9" * 5000), "its task's index is no"),
        ('{"cluster": {"worker": {"%s": "a:1"}}}' % ("9" * 5000), 'its cluster\'s "worker" is no list of addresses'),
    ],
)
def test_a_tf_config_without_end(value, problem):
    assert problem in cluster.read(FakeHost(env={"TF_CONFIG": value}, request=QUICK)).problems[0]


def test_syslog_lines_without_a_year(berlin):
    lines = f"Feb 27 09:00:00 node1 kernel: [    1.000000] {LOST}\nMar  1 09:01:00 node1 kernel: [   60.000000] {LOST}\n"
    fact = kernel_log.read(FakeHost({**STAT, "/var/log/messages": lines}, request=QUICK))
    assert [event.time for event in fact.events] == ["2026-03-01T08:01:00Z"]


@pytest.mark.parametrize(
    ("lines", "codes", "last"),
    [
        ([LOST, *(f"NVRM: Xid (PCI:0000:5e:00): 31, pid={pid}, MMU Fault" for pid in range(500))], [79, 31, 31, 31], "pid=499"),
        ([f"NVRM: Xid (PCI:0000:{bus:02x}:00): 94, Contained" for bus in range(80)], [94] * 50, "0000:4f:00"),
    ],
)
def test_a_flood_of_one_kind_does_not_wash_the_others_away(lines, codes, last):
    dmesg = "".join(f"[{number:6}.500000] {text}\n" for number, text in enumerate(lines, 60))
    fact = kernel_log.read(FakeHost(STAT, programs={"dmesg": dmesg}))
    assert [event.code for event in fact.events] == codes
    assert last in fact.events[-1].text


def test_only_so_many_interpreters_are_looked_into():
    folders = [f"/opt/{number}" for number in range(interpreter.HOMES_MAX + 10)]
    tensorflow = "lib/python3.12/site-packages/tensorflow-2.21.0.dist-info/METADATA"
    files = {f"{folder}/{path}": "" for folder in folders for path in ("bin/python", tensorflow)}
    own = {"executable": "/venv/bin/python", "version": "3.12.3", "prefix": "/venv", "base_prefix": "/usr"}
    host = FakeHost(files, interpreter=own, env={"PATH": ":".join(f"{folder}/bin" for folder in folders)})
    assert len(folders) - 15 < len(interpreter.read(host).others) <= interpreter.HOMES_MAX


class Counting(FakeHost):
    def read(self, path, limit_bytes=1 << 20):
        self.paths = [*getattr(self, "paths", []), path]
        return super().read(path, limit_bytes)


def test_of_other_vendors_functions_only_the_vendor_is_read():
    folders = [f"/sys/bus/pci/devices/0000:{number:02x}:00.0" for number in range(200)]
    host = Counting({f"{folder}/{name}": "0x8086\n" for folder in folders for name in ("vendor", "device", "class")})
    assert pci.read(host) == pci.Pci(readable=True)
    assert len(host.paths) == 200


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "TF_TOKEN_app_x", "NVIDIA_API_KEY", "KERAS_PASSWORD", "TPU_CREDENTIALS", "KAGGLE_KEY"]
)
def test_no_value_of_a_secret(name):
    fact = environment.read(FakeHost(env={name: "s3cr3t"}))
    assert "s3cr3t" not in repr(fact)
    assert fact.variables == {}
    assert fact.unrecorded == ((name,) if name.startswith(environment.PREFIXES) else ())


def test_no_known_name_looks_like_a_secret():
    assert [name for name in environment.KNOWN if re.search(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL", name)] == []
