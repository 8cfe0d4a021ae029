"""The cluster of a Slurm step matches that of TensorFlow's own resolver."""

import importlib.util
import json
import os
import subprocess
import sys
import time

import pytest
from case_files import program

from gpucheck.core.cluster import slurm


def env(nodes="n[1-2]", tasks="2(x2)", count=4, rank=0, **more):
    return {
        "SLURM_STEP_NODELIST": nodes,
        "SLURM_STEP_TASKS_PER_NODE": tasks,
        "SLURM_STEP_NUM_TASKS": str(count),
        "SLURM_PROCID": str(rank),
        **more,
    }


@pytest.mark.parametrize(
    ("nodes", "tasks"),
    [
        ("n[1-9999999999]", "1"),
        ("n[1-99999]m[1-99999]", "1"),
        ("n" * 60 + "]", "1"),
        ("n[" + ",".join(["1-60000"] * 500) + "]", "1"),
        ("n1", "1(x9999999999)"),
        ("n1", "9999999999"),
        ("n[" + "0" * 4000 + "1-60000]", "1"),
    ],
    ids=["range", "product", "backtracking", "sum", "nodes by counts", "tasks of one node", "width"],
)
def test_huge_node_lists_are_rejected_quickly(nodes, tasks):
    began = time.monotonic()
    with pytest.raises(slurm.Unusable):
        slurm.step(env(nodes=nodes, tasks=tasks, count=1))
    assert time.monotonic() - began < 0.5


def test_node_list_of_a_large_cluster_is_expanded():
    nodes = list(slurm.expand("r[001-100]n[001-100]"))
    assert (len(nodes), nodes[0], nodes[-1]) == (10_000, "r001n001", "r100n100")


STEPS = [
    env(),
    env("b[1-2],a7", "1(x3)", 3, 1),
    env("n[9-11]", "2,1,3", 6, 4),
    env("n[008-010]", "2(x2),1", 5, 0),
    env("alone", "4", 4, 2),
]
RESOLVE = program("slurm_resolve.py")


@pytest.mark.tensorflow
@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed")
@pytest.mark.slow
def test_cluster_matches_the_resolver_of_tensorflow():
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE],
        input=json.dumps(STEPS),
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    steps = [slurm.step(variables) for variables in STEPS]
    assert json.loads(done.stdout.splitlines()[-1]) == [
        [{"worker": list(step.addresses)}, "worker", step.number] for step in steps
    ]
