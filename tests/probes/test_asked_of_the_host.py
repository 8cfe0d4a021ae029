"""The queries of probes to the host, and results too long for a file of cases."""

import re

import pytest
from case_files import table
from fakes import FakeChild, FakeHost

from gpucheck.core.model import Level, Request
from gpucheck.core.probes import cluster, environment, interpreter, pci, tensorflow, training
from gpucheck.core.probes.limits import oom_kills

QUICK = Request(level=Level.QUICK)
ROOT = "/sys/fs/cgroup"


@table
def test_kills_by_the_oom_killer_are_counted(group, mount, files, kills):
    tables = {"/proc/self/cgroup": group, "/proc/self/mountinfo": f"40 30 0:30 {mount}\n"}
    own = {f"{ROOT}/{path}": text for path, text in files.items()}
    assert oom_kills(FakeHost({**tables, **own, "/proc/vmstat": "pgfault 5\noom_kill 3\n"})) == kills
    assert oom_kills(FakeHost(tables)) is None


def test_kill_is_counted_although_the_child_died_before_the_second_probe():
    class Machine(FakeHost):
        def child(self, task, limit=30.0):
            self._files["/proc/vmstat"] = b"oom_kill 4\n"  # killed as soon as it is started
            return FakeChild(how="killed by SIGKILL")

    machine = Machine({"/proc/vmstat": "oom_kill 3\n"})
    assert [probe.read(machine).oom_kills for probe in (training, tensorflow)] == [1, 1]


@pytest.mark.parametrize("value", ["", "  \n"])
def test_empty_tf_config_is_not_configured(value):
    assert not cluster.read(FakeHost(env={"TF_CONFIG": value}, request=QUICK)).configured


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("[" * 200_000, "it is not valid JSON: its brackets are nested too deeply"),
        ('{"cluster":' * 200_000, "it is not valid JSON: its brackets are nested too deeply"),
        ('{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": "%s"}}' % ("9" * 5000), "its task's index is no"),
        ('{"cluster": {"worker": {"%s": "a:1"}}}' % ("9" * 5000), 'its cluster\'s "worker" is not a list of addresses'),
    ],
)
def test_huge_tf_config_is_reported(value, problem):
    assert problem in cluster.read(FakeHost(env={"TF_CONFIG": value}, request=QUICK)).problems[0]


def test_number_of_examined_interpreters_is_limited():
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


def test_only_the_vendor_of_other_pci_functions_is_read():
    folders = [f"/sys/bus/pci/devices/0000:{number:02x}:00.0" for number in range(200)]
    host = Counting({f"{folder}/{name}": "0x8086\n" for folder in folders for name in ("vendor", "device", "class")})
    assert pci.read(host) == pci.Pci(readable=True)
    assert len(host.paths) == 200


@pytest.mark.parametrize(
    "name", ["HF_TOKEN", "TF_TOKEN_app_x", "NVIDIA_API_KEY", "KERAS_PASSWORD", "TPU_CREDENTIALS", "KAGGLE_KEY"]
)
def test_values_of_secret_variables_are_not_recorded(name):
    fact = environment.read(FakeHost(env={name: "s3cr3t"}))
    assert "s3cr3t" not in repr(fact)
    assert fact.variables == {}
    assert fact.unrecorded == ((name,) if name.startswith(environment.PREFIXES) else ())


def test_recorded_variable_names_do_not_look_like_secrets():
    assert [name for name in environment.KNOWN if re.search(r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL", name)] == []
