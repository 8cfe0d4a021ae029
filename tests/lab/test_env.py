"""``gpucheck env`` and ``gpucheck run --repair`` with the fake driver and the real TensorFlow, in real shells."""

import json
import os
import shlex
import subprocess
import sys

import pytest
from case_files import table
from lab import machines
from lab.environments import Environment

pytestmark = pytest.mark.lab_chosen
LISTED = "import tensorflow as tf; print([gpu.name for gpu in tf.config.list_physical_devices('GPU')])"
GPU = "['/physical_device:GPU:0']\n"


class Machine:
    """TensorFlow 2.21.0 as pip installs it, in an environment of that name, on a machine with one GPU."""

    def __init__(self, bench, name="env"):
        self.trial = bench.trial()
        self.environment = self.trial.environment
        if name != "env":
            self.environment = bench.environment.copy(self.trial.folder / name)
        self.trial.env["LD_LIBRARY_PATH"] = ""
        self.env = bench.surroundings(self.trial, {})
        self.python = shlex.quote(str(self.environment.python))
        self.gpucheck = f"{shlex.quote(sys.executable)} -m gpucheck"

    def run(self, text, shell="sh", enter=(), **env):
        given = {name: value for name, value in {**self.env, **env}.items() if value is not None}
        return subprocess.run(
            [*enter, shell, "-c", text], env=given, cwd=self.trial.folder, capture_output=True, text=True, timeout=120
        )

    def repaired(self, *args):
        return f"{self.gpucheck} env --python {self.python} {' '.join(args)}"

    def check(self):
        return f"{self.gpucheck} --quick --python {self.python} >/dev/null"


@pytest.fixture(scope="module")
def machine(bench):
    return Machine(bench)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_eval_makes_tensorflow_list_the_gpu_in_a_folder_with_blanks_and_quotes(bench):
    machine = Machine(bench, "it's an env")
    listing = f"{machine.python} -c {shlex.quote(LISTED)}"
    done = machine.run(f'eval "$({machine.repaired("--shell", "sh")})"\n{listing}')
    assert done.stdout == GPU, done.stderr


@pytest.mark.tensorflow
def test_printed_command_of_a_finding_makes_tensorflow_list_the_gpu(machine):
    listing = f"{machine.python} -c {shlex.quote(LISTED)}"
    done = machine.run(f"{machine.gpucheck} --quick --python {machine.python} --format json")
    finding = json.loads(done.stdout)["findings"][0]
    assert (done.returncode, finding["code"], finding["explained_by"]) == (1, "cuda-libraries-unreachable", None)
    assert machine.run(listing).stdout == "[]\n"
    assert machine.run(f"{finding['fix'][0]['command']}\n{listing}").stdout == GPU


def test_missing_folder_is_exported_once(machine):
    done = machine.run(machine.repaired())
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    assert line.startswith(
        f'export LD_LIBRARY_PATH="{machine.environment.cusolver}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"  # libcusolver.so.11 '
    )
    again = machine.run(f'eval "$({machine.repaired()})"; {machine.repaired()}; {machine.check()}')
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    growth = machine.run(f'eval "$({machine.repaired("--apply-growth")})"; echo $TF_FORCE_GPU_ALLOW_GROWTH')
    assert growth.stdout == "true\n"


@table
def test_conflicting_variables(machine, env, lines):
    done = machine.run(machine.repaired(), **env)
    assert (done.returncode, done.stderr) == (0, "")
    printed = done.stdout.splitlines()
    assert len(printed) == len(lines)
    assert sorted(line for line in lines if not any(text.startswith(line) for text in printed)) == []
    after = machine.run(f'eval "$({machine.repaired()})"; {machine.check()}', **env)
    assert (after.returncode, after.stderr) == (0, "")


def test_unrepairable_findings_are_reported(bench):
    trial = bench.trial()
    trial.own_environment().drop("nvidia/cufft", "nvidia_cufft*")
    machine = Machine(bench)
    machine.python = shlex.quote(str(trial.environment.python))
    done = machine.run(machine.repaired())
    assert done.returncode == 1
    assert done.stdout.startswith("export LD_LIBRARY_PATH=")
    assert done.stderr.startswith("gpucheck: still failing with these variables: cuda-libraries-missing: ")
    assert "to fix it: " in done.stderr


def test_ptxas_of_a_toolkit_outside_the_search_path_of_xla(bench):
    trial = bench.trial()
    trial.own_environment().drop("nvidia/cuda_nvcc", "nvidia_cuda_nvcc*")
    toolkit = trial.folder / "cuda 12.5"
    for path in ("bin/ptxas", "nvvm/libdevice/libdevice.10.bc"):
        (toolkit / path).parent.mkdir(parents=True)
        (toolkit / path).write_text("#!/bin/sh\n")
    machine = Machine(bench)
    machine.python = shlex.quote(str(trial.environment.python))
    if bench.no_machines:
        pytest.skip(bench.no_machines)
    enter = machines.Machine().enter(trial.folder)  # without the toolkits of the machine that runs the tests
    env = {"CUDA_HOME": str(toolkit), "XLA_FLAGS": "--xla_dump_to=/tmp/dump"}
    done = machine.run(f'eval "$({machine.repaired()})"; echo "$XLA_FLAGS"; {machine.check()}', enter=enter, **env)
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f'--xla_gpu_cuda_data_dir="{toolkit}" --xla_dump_to=/tmp/dump\n',
        "",
    )


def test_repair_for_one_command(machine, tmp_path):
    show = "-- sh -c 'echo \"$LD_LIBRARY_PATH|${CUDA_VISIBLE_DEVICES-unset}\"'"
    command = f"{machine.gpucheck} run --python {machine.python}"
    stopped = machine.run(f"{command} {show}")
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert stopped.stderr.startswith("gpucheck: not started: cuda-libraries-unreachable: ")
    expected = f"{machine.environment.cusolver}:{machine.env['LD_LIBRARY_PATH']}|unset\n"
    cached = {"XDG_CACHE_HOME": str(tmp_path), "CUDA_VISIBLE_DEVICES": "-1"}
    for _ in range(2):  # the second time from the cache
        done = machine.run(f"{command} --repair --cache 600 {show}", **cached)
        assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    (file,) = (tmp_path / "gpucheck").iterdir()
    file.write_text(file.read_text().replace("nvidia/cusolver", "remembered"))
    assert "remembered" in machine.run(f"{command} --repair --cache 600 {show}", **cached).stdout
    assert "remembered" not in machine.run(f"{command} --repair {show}", **cached).stdout


def test_installed_variables_are_set_by_activation_and_removed_by_uninstall(bench):
    machine = Machine(bench, "an env")
    script = machine.environment.folder / "bin/activate"
    before = script.read_bytes()
    run = f"{machine.gpucheck} env --python {machine.python}"
    first = machine.run(f"{run} --install", CUDA_VISIBLE_DEVICES="-1")
    assert (first.returncode, first.stdout) == (0, "")
    assert first.stderr.splitlines() == [
        "gpucheck: not saved, because it is specific to this job: CUDA_VISIBLE_DEVICES (it hides every GPU (-1))",
        f"gpucheck: written: {script}",
    ]
    written = script.read_bytes()
    assert machine.run(f"{run} --install").stderr == "gpucheck: already there\n"
    activated = f". '{script}' && {machine.check()}"
    done = machine.run(f"{activated} && {run} --install; deactivate; {machine.check()}")
    assert (done.returncode, done.stderr) == (1, "gpucheck: nothing else is needed; the installed variables were kept\n")
    assert script.read_bytes() == written
    assert machine.run(f"{run} --uninstall").stderr == f"gpucheck: restored: {script}\n"
    assert script.read_bytes() == before
    assert machine.run(f"{run} --uninstall").stderr == "gpucheck: nothing was installed\n"


def test_uninstall_requires_an_environment(machine):
    if not os.path.exists("/usr/bin/python3"):
        pytest.skip("no system Python on this machine")
    done = machine.run(f"{machine.gpucheck} env --uninstall --python /usr/bin/python3")
    assert done.returncode == 2
    assert "not a virtual or conda environment" in done.stderr


def test_printing_writes_no_files(machine):
    """Printing writes neither to the home folder nor to the environment."""
    assert isinstance(machine.environment, Environment)
    before = sorted(os.listdir(machine.trial.home))
    machine.run(machine.repaired())
    assert sorted(os.listdir(machine.trial.home)) == before
