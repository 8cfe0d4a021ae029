"""Arbitrary cluster variables give workers, or an error."""

import contextlib

from fakes import FakeHost
from fuzz.inputs import Bounded, fuzzed, texts
from hypothesis import given

from gpucheck.core.cluster import slurm, tf_config
from gpucheck.core.probes import cluster
from gpucheck.core.reports.redaction.names import Names, listed

TF_CONFIG = (
    '{"cluster": {"chief": ["a.b:2222"], "worker": ["n1:2222", "[fe80::1]:2223"]}, "task": {"type": "worker", "index": 1}}'
)
NODES = ("n[1-2,08],m5", "rack[0-3]node[001-128]-ib,x", "a")
TASKS = ("3(x2),1", "1")


@fuzzed
@given(texts(TF_CONFIG))
def test_any_tf_config_is_read(text):
    with Bounded():
        parsed = tf_config.Parsed(text)
        assert parsed.problems or parsed.addresses is not None
        cluster.read(FakeHost(env={"TF_CONFIG": text}))


@fuzzed
@given(texts(*NODES), texts(*TASKS), texts("1", "0"))
def test_any_slurm_step_is_read_or_unusable(nodes, tasks, number):
    env = {"SLURM_STEP_NODELIST": nodes, "SLURM_STEP_TASKS_PER_NODE": tasks, "SLURM_PROCID": number, "SLURM_STEP_NUM_TASKS": "3"}
    with Bounded():
        with contextlib.suppress(slurm.Unusable):
            slurm.step({**dict.fromkeys(slurm.NEEDED, "1"), **env})
        names = Names()
        for name in listed(nodes):
            names.add("host", name)
        assert all(0 <= start < end <= len(nodes) for _, start, end, _ in names.find(nodes, 0, len(nodes)))
