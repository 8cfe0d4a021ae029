"""The timed step: several steps per execution match single steps, and nothing runs eagerly on a TPU."""

import pytest
from in_tensorflow import MARKS, found_by

pytestmark = [*MARKS, pytest.mark.slow]
TRAINED = """
from gpucheck.core.training.smoke import throughput
from gpucheck.core.training.smoke.tensorflow import fresh
from gpucheck.core.training import strategies

class LikeOnATpu:
    # TensorFlow, where every strategy counts as a TPU's: of those, nothing may run eagerly
    distribute = type("distribute", (), {"TPUStrategy": tf.distribute.Strategy})
    def __getattr__(self, name):
        return getattr(tf, name)

def trained(devices, at_once, framework=tf):
    fresh(keras, "float32")
    strategy = strategies.build("mirrored" if len(devices) > 1 else "one_device", tf, devices)
    with strategy.scope():
        model = network.model(keras, False, dropout=0.0)
    sample = tuple(map(tf.constant, network.arrays(1)))
    job = throughput.ready(framework, strategy, model, sample, steps_per_execution=at_once)
    source = job.source(network.dataset(tf, 8 * len(devices)))
    numbers = []
    batch = job.keep(next(source))
    job.piped(source, 8, lambda number: numbers.append(number) or __import__("contextlib").nullcontext())
    job.resident(batch, 4)
    return [int(model.optimizer.iterations.numpy()), numbers, job.finite, float(model.get_metrics_result()["loss"])]

for devices in (("CPU:0",), ("CPU:0", "CPU:1")):
    found[len(devices)] = [trained(devices, 1), trained(devices, 4), trained(devices, 4, LikeOnATpu())]
"""


@pytest.fixture(scope="module")
def found():
    return found_by(TRAINED)


@pytest.mark.parametrize("replicas", ["1", "2"])
def test_several_steps_per_execution_match_single_steps(found, replicas):
    one, four, _ = found[replicas]
    assert (one[0], one[1], one[2]) == (12, list(range(8)), True)
    assert (four[0], four[1], four[2]) == (12, [0, 4], True)
    assert four[3] == pytest.approx(one[3], rel=1e-4)


@pytest.mark.parametrize("replicas", ["1", "2"])
def test_training_without_eager_ops_matches_eager_training(found, replicas):
    _, eager, compiled = found[replicas]
    assert compiled == [*eager[:3], pytest.approx(eager[3], rel=1e-4)]
