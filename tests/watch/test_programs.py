"""User programs on a terminal of 80 columns: with Watch as a callback, and unchanged under `gpucheck run --watch`."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import sysconfig
import termios

import pytest
from lab import fake_driver

ROOT = pathlib.Path(__file__).parents[2]
PROGRAMS = pathlib.Path(__file__).parent / "programs"
UNCHANGED = [sys.executable, "-m", "gpucheck", "run", "--watch", "--allow-cpu", "--on-fail", "warn", "--", sys.executable]
COLUMNS = 80
both = pytest.mark.parametrize("way", [pytest.param("in the program", marks=pytest.mark.slow), "unchanged"])


def terminal(tmp_path, name, way, **env):
    """Return gpucheck's lines on the terminal at standard error, from the first step on, and standard output."""
    program = (PROGRAMS / f"{name}.py").read_text()
    if way == "in the program":
        program = program.replace("callbacks=[", "callbacks=[__import__('gpucheck.keras').keras.Watch(), ").replace(
            "(), ])", "()])"
        )
    (tmp_path / "train.py").write_text(program)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    env = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}", **env}
    argv = [*(UNCHANGED if way == "unchanged" else [sys.executable]), "train.py"]
    text = b""
    with (tmp_path / "out").open("w+") as out:
        run = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=out, stderr=theirs, stdin=subprocess.DEVNULL)
        os.close(theirs)
        while part := _read(ours):
            text += part
        os.close(ours)
        assert run.wait(100) == 0, text.decode()
        return text.decode().replace("\r\n", "\n"), (tmp_path / "out").read_text()


def _read(descriptor):
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # every descriptor of the other end of the terminal is closed
        return b""


def paragraphs(text):
    """Return each message of gpucheck with its lines joined; only commands may be wider than the terminal."""
    found = re.findall(r"^gpucheck: .*(?:\n    .+)*", text, re.MULTILINE)
    wide = [line for part in found for line in part.split("\n") if len(line) > COLUMNS and "to fix it: " not in line]
    assert wide == []
    return [" ".join(part.split()) for part in found]


@both
@pytest.mark.tensorflow
def test_healthy_training(tmp_path, way):
    figures, metric, limit = paragraphs(terminal(tmp_path, "healthy", way)[0])
    assert re.match(
        r"gpucheck: 16 epochs, 464 steps, [\d.]+ s · [\d,]+ samples/s · median epoch .* · \d+ % of each step is spent waiting",
        figures,
    )
    assert metric.startswith("gpucheck: val_accuracy 0.")
    # On a busy machine, the first step takes half of the time.
    assert re.search(r"computing on the CPU limits this training$|: the first step, which traces and compiles, took ", limit)


@pytest.mark.slow
@both
@pytest.mark.tensorflow
def test_loss_not_finite(tmp_path, way):
    event, _, limit = paragraphs(terminal(tmp_path, "not_finite", way)[0])
    place = re.match(r"gpucheck: (loss became \w+ in epoch 1, step \d+) \(learning rate 10\)\. Every later step is lost", event)
    assert limit == f"gpucheck: {place[1]} [loss-not-finite]"


@both
@pytest.mark.slow
@pytest.mark.tensorflow
def test_slow_input_and_gain_of_the_advice(tmp_path, way):
    error, out = terminal(tmp_path, "slow_input", way)
    trainings = json.loads(out.splitlines()[-1])
    steps = {name: training["step"] for name, training in trainings.items()}
    messages = paragraphs(error)
    shares = [
        int(found[1]) / 100 for line in messages if (found := re.search(r"(\d+) % of each step is spent waiting for data", line))
    ]
    assert shares == pytest.approx([training["waiting"] for training in trainings.values()], abs=0.05), trainings
    first, second = [line for line in messages if "the input pipeline limits this training" in line][:2]
    assert "(its Python code at train.py:" in first
    for line, before, changes in (
        (first, "generator", ["PyDataset", "ready"]),
        (second, "map", ["parallel map", "PyDataset", "ready"]),
    ):
        most = float(re.search(r": at most ([\d.]+) times as fast \[", line)[1])
        gains = [steps[before] / steps[change] for change in changes]
        assert max(gains) == pytest.approx(most, rel=0.15), (steps, line)  # predicted and actual gain


@both
@pytest.mark.slow
@pytest.mark.tensorflow
def test_training_on_the_cpu_with_two_gpus(tmp_path, way, driver_folder):
    scenario = fake_driver.write_scenario(tmp_path / "scenario", {"gpus": 2, "gpu.*.utilization_percent": 0})
    text, _ = terminal(tmp_path, "on_the_cpu", way, LD_LIBRARY_PATH=str(driver_folder), FAKE_DRIVER=str(scenario))
    *_, event, command, figures, gpus, limit = paragraphs(text)
    code = re.fullmatch(r"gpucheck: training on the CPU; 2 GPUs are unused: TensorFlow .* (\[[\w-]+\])", event)[1]
    assert command.startswith("gpucheck: to fix it: ")
    assert figures.startswith("gpucheck: 1 epoch, 400 steps, ")
    assert gpus == "gpucheck: GPU 0 0 % busy · GPU 1 0 % busy"
    assert limit == f"gpucheck: the training ran on the CPU, and did not use the machine's GPUs {code}"


@pytest.mark.slow
@pytest.mark.tensorflow
def test_lines_of_packages_are_not_named_in_a_folder_of_another_name(tmp_path):
    packages = tmp_path / "packages"  # as after `pip install --target`
    packages.mkdir()
    for path in pathlib.Path(sysconfig.get_path("purelib")).iterdir():
        (packages / path.name).symlink_to(path)
    (packages / "augment.py").write_text("import time\n\n\ndef turn(x):\n    time.sleep(0.7)\n    return x\n")
    (tmp_path / "train.py").write_text((PROGRAMS / "slow_map.py").read_text())
    env = {**os.environ, "PYTHONPATH": f"{ROOT}:{packages}"}
    run = subprocess.run([sys.executable, "-S", "train.py"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=100)
    assert "(its Python code at train.py:11 in read)" in run.stderr
