"""Nodes that train together, on any engine: the command, and faults of one of the workers."""

import json
import pathlib
import sys

from case_files import program
from lab.breakages import AFTER_IMPORT

import gpucheck

LIMIT = "100"  # seconds for a node


def command(engine, *arguments):
    """The command, with JSON output."""
    argv = [sys.executable, "-m", "gpucheck", "fleet", "train", "--engine", engine, "--node-limit", LIMIT, "--format", "json"]
    return [*argv, *arguments, "--", "--allow-cpu"]


def faulty(folder, fault, place=1):
    """Variables that give the worker with this index a fault, on every node where they are set."""
    (folder / "sitecustomize.py").write_text(AFTER_IMPORT + program("workers_in_a_fleet.py"))
    path = f"{folder}:{pathlib.Path(gpucheck.__file__).parents[1]}"
    return {"PYTHONPATH": path, "FAULTY": str(place), "FAULT": fault}


def report_of(done, workers):
    """The report of a run, after a check of the number of workers."""
    assert done.stdout, done.stderr
    fleet = json.loads(done.stdout)
    assert len(fleet["training"]["workers"]) == workers, fleet["training"]
    return fleet


def proven(training, workers):
    """Check the expected results of a joint training."""
    assert training["status"] == "passed", training["reason"]
    assert (training["shards_verified"], training["replicas_equal"], training["loss_fell"]) == (True, True, True)
    assert training["samples_per_second"] > 0
    assert len(training["links"]) == workers * (workers - 1) // 2
    for worker in training["workers"]:
        assert worker["alone_samples_per_second"] > 0
        assert worker["link_seconds"] > 0
        assert worker["versions"]["tensorflow"]
    assert (training["faults"], training["skew"]) == ([], [])


def died(fleet, node, how="killed by SIGKILL"):
    """Check that only worker 1 is blamed, with its node."""
    (fault,) = fleet["training"]["faults"]
    assert (fault["worker"], fault["node"], fault["told_by"], fault["reason"]) == ("worker 1", node, node, how)
    assert "step" in fault["stage"]
    assert "worker-unreachable" not in [cause["code"] for cause in fleet["causes"]]
