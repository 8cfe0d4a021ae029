"""Several workers of one training: the number of a process, and one summary for all, also of two real processes."""

import json
import os
import pathlib
import socket
import subprocess
import sys

import msgspec
import pytest

from gpucheck.commands.watch.summary import Summary, lines, write
from gpucheck.commands.watch.workers import Worker, collect, forget, together, worker
from gpucheck.core.model.fit import GpuUse, Limit

ROOT = pathlib.Path(__file__).parents[2]
PROGRAMS = pathlib.Path(__file__).parent / "programs"
ENV = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"}
TORCHRUN = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
DATA = Limit(text="the input pipeline limits this training", code="input-pipeline-bound")
ONE = Summary(
    seconds=23.0,
    epochs=5,
    steps=25,
    step_seconds=0.2,
    samples_per_second=80.0,
    input_wait_share=0.1,
    workers=3,
    limit=Limit(text="computing limits this training"),
)


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, Worker(0, 1)),
        ({"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'}, Worker(1, 2)),
        (
            {"TF_CONFIG": '{"cluster": {"chief": ["a:1"], "worker": ["b:1"]}, "task": {"type": "worker", "index": 0}}'},
            Worker(1, 2),
        ),
        ({"TF_CONFIG": '{"cluster": {"worker": ["b:1"]}, "task": {"type": "evaluator", "index": 0}}'}, Worker(0, 1)),
        ({"TF_CONFIG": "{", **TORCHRUN, "RANK": "1", "LOCAL_RANK": "1"}, Worker(1, 2)),
        ({"HOROVOD_RANK": "3", "HOROVOD_SIZE": "4", "HOROVOD_LOCAL_RANK": "1", "HOROVOD_LOCAL_SIZE": "2"}, Worker(3, 4)),
        ({"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "4"}, Worker(2, 4)),
        ({"SLURM_PROCID": "0"}, Worker(0, 1)),
    ],
)
def test_worker_number_of_a_process(env, expected):
    assert worker(env) == expected


def other(number, **changes):
    return msgspec.structs.replace(ONE, worker=number, **changes)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (
            [other(1), other(2, input_wait_share=0.12)],
            [
                "3 workers, 5 epochs, 25 steps, 23 s · 240 samples/s in total · a step takes 200 ms on each",
                "waiting for data: 12 % on each",
                "computing limits this training",
            ],
        ),
        (  # in step: the others wait for the gradients of the worker that waits for its data
            [other(1, input_wait_share=0.8, limit=DATA, gpus=(GpuUse(index=0, utilization_percent=20.0),)), other(2)],
            [
                "3 workers, 5 epochs, 25 steps, 23 s · 240 samples/s in total · a step takes 200 ms on each",
                "waiting for data: 10 % (worker 0) to 80 % (worker 1) · GPUs busy: 20 %",
                "worker 1: the input pipeline limits this training [input-pipeline-bound]",
            ],
        ),
        (
            [other(2, step_seconds=0.3, samples_per_second=None, limit=None)],
            [
                "3 workers, 5 epochs, 25 steps, 23 s · a step takes 200 ms (worker 0) to 300 ms (worker 2)"
                " · no summary of worker 1, which the figures exclude",
                "waiting for data: 10 % on each",
            ],
        ),
        (
            [],
            [
                "3 workers, 5 epochs, 25 steps, 23 s · 80 samples/s in total · a step takes 200 ms · no summary of worker 1, 2, which the"
            ],
        ),
    ],
)
def test_lines_about_all_workers(others, expected):
    output = together({one.worker: one for one in (ONE, *others)}, 3)
    assert all(line.startswith(f"gpucheck: {start}") for line, start in zip(output, expected, strict=False)), output
    assert len(output) == len(expected) or not others


def test_first_worker_names_the_number_of_workers():
    assert lines(ONE)[0].startswith("gpucheck: worker 0 of 3 · 5 epochs, 25 steps, 23 s")


@pytest.mark.parametrize("damaged", [b"{", b'{"device": "\xc3"}'])
def test_damaged_summary_files_of_workers_are_ignored_and_all_are_removed(damaged, tmp_path):
    report = f"{tmp_path}/{{rank}}.json"
    (tmp_path / "2.json").write_bytes(damaged)
    write(other(1), f"{tmp_path}/1.json")
    assert collect(report, ONE, 0.0) == {0: ONE, 1: other(1)}
    forget(report, 3)
    assert list(tmp_path.iterdir()) == []


def started(program, *args, **env):
    argv = [sys.executable, str(program), *args]
    return subprocess.Popen(
        argv, env={**ENV, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )


def ended(process):
    out, error = process.communicate(timeout=200)
    assert process.returncode == 0, error
    return out, [line for line in error.splitlines() if line.startswith("gpucheck: ")]


@pytest.mark.slow
@pytest.mark.tensorflow
def test_two_workers_of_one_strategy_share_a_summary(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        cluster = {"worker": [f"127.0.0.1:{place.getsockname()[1]}" for place in (one, two)]}
    report = f"{tmp_path}/{{rank}}.json"
    configs = [json.dumps({"cluster": cluster, "task": {"type": "worker", "index": number}}) for number in range(2)]
    processes = [started(PROGRAMS / "worker.py", report, TF_CONFIG=config) for config in configs]
    (_, output), (_, nothing) = map(ended, processes)
    assert nothing == []
    one, two = (json.loads((tmp_path / f"{number}.json").read_text()) for number in range(2))
    assert [one["worker"], two["worker"], one["workers"], two["steps"]] == [0, 1, 2, 40]
    rate = one["samples_per_second"] + two["samples_per_second"]
    assert output[0].startswith("gpucheck: 2 workers, 2 epochs, 40 steps, ")
    assert f"· {rate:.3g} samples/s in total · a step takes " in output[0]
    assert "the input pipeline limits this training" in output[-1]
    assert 0.5 < one["input_wait_share"] <= 1  # waits for the data of the other worker, because a step needs all workers


@pytest.mark.slow
@pytest.mark.tensorflow
def test_unchanged_program_of_two_ranks_prints_one_summary(tmp_path):
    argv = [sys.executable, "-m", "gpucheck", "run", "--watch", "--allow-cpu", "--", sys.executable, PROGRAMS / "not_finite.py"]
    ranks = [{**ENV, **TORCHRUN, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(2)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True}
    first, second = map(ended, [subprocess.Popen(argv, env=env, cwd=tmp_path, **pipes) for env in ranks])
    event, figures, limit = first[1]
    assert event.startswith("gpucheck: worker 0: loss became ")
    assert figures.startswith("gpucheck: worker 0 of 2 · 2 epochs, 64 steps, ")
    assert limit.endswith(" [loss-not-finite]")
    assert [line.partition(" became")[0] for line in second[1]] == ["gpucheck: worker 1: loss"]
