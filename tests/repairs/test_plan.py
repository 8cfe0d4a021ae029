"""Applying assignments; those of findings are in tests/cases/rules/assignments.txt."""

import pytest
from fakes import assignment

from gpucheck.core.repairs.verify import growth
from gpucheck.core.system.shells import applied

FLAG = "--xla_gpu_cuda_data_dir=/opt/cuda"


def test_memory_growth_is_assigned_unless_set():
    (one,) = growth({})
    assert (one.variable, one.value) == ("TF_FORCE_GPU_ALLOW_GROWTH", "true")
    assert growth({"TF_FORCE_GPU_ALLOW_GROWTH": "True"}) == ()
    assert growth({"TF_FORCE_GPU_ALLOW_GROWTH": "false"}) != ()


@pytest.mark.parametrize(
    ("assignments", "env", "made"),
    [
        (
            [assignment("A"), assignment("B", "0", prepend=True), assignment("C", "3", prepend=True)],
            {"A": "1", "B": "2"},
            {"B": "0:2", "C": "3"},
        ),
        ([assignment("XLA_FLAGS", FLAG, prepend=True)], {"XLA_FLAGS": "--xla_a=1"}, {"XLA_FLAGS": f"{FLAG} --xla_a=1"}),
        ([assignment("A", apply=False)], {"A": "0,9"}, {"A": "0,9"}),
    ],
)
def test_applying_assignments_copies_the_environment(assignments, env, made):
    before = dict(env)
    assert applied(assignments, env) == made
    assert env == before
