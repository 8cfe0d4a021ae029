import pytest
from bench.cases import PROFILE, names, one, raw

from gpucheck.commands.bench import figures
from gpucheck.core.child.messages.benchmark import Configuration, Measured
from gpucheck.core.child.messages.drivers import GpuSample, Sampled
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.training.smoke.throughput import scaling_efficiency

ITEM = Configuration("one_device", names(1), "float32", False, 64)


def test_spread_is_median_minimum_maximum():
    got = figures.measurement(ITEM, raw())
    assert got.status == "measured"
    assert got.repeats == 3
    assert got.step_seconds == figures.spread([0.2, 0.1, 0.4])
    assert (got.step_seconds.median, got.step_seconds.minimum, got.step_seconds.maximum) == (0.2, 0.1, 0.4)
    assert got.samples_per_second.values == pytest.approx((320, 640, 160))
    assert got.samples_per_second.median == pytest.approx(320)
    assert got.device_samples_per_second.median == pytest.approx(640)
    assert got.input_wait_share.values == pytest.approx((0.5, 0.0, 0.75))
    assert got.epoch_seconds.median == 2.0


def test_warmup_is_excluded_from_figures():
    assert figures.measurement(ITEM, raw(first_step_seconds=99.0, warmup_seconds=999.0)).step_seconds.maximum == 0.4


def test_epoch_seconds_are_the_median_of_a_repeat():
    several = raw()
    several.repeats[0].epoch_seconds = [3.0, 1.0, 2.0]
    assert figures.measurement(ITEM, several).epoch_seconds.values == (2.0, 1.0, 4.0)


def test_time_to_target_needs_every_repeat():
    reached = raw()
    for repeat, seconds in zip(reached.repeats, (30.0, 10.0, 20.0), strict=True):
        repeat.seconds_to_target = seconds
    assert figures.measurement(ITEM, reached).seconds_to_target.median == 20.0
    reached.repeats[1].seconds_to_target = None
    assert figures.measurement(ITEM, reached).seconds_to_target is None


def test_failed_and_unreached_configurations():
    failed = figures.measurement(ITEM, Measured("out of memory"))
    assert (failed.status, failed.reason, failed.samples_per_second) == ("failed", "out of memory", None)
    missed = figures.measurement(ITEM, None, "interrupted")
    assert (missed.status, missed.reason) == ("not-measured", "interrupted")


def test_scaling_efficiency():
    assert scaling_efficiency(600.0, 200.0, 4) == pytest.approx(0.75)
    alone, four = figures.complete([one(seconds=(1.0,) * 3), one(4, seconds=(2.0,) * 3)], None)
    assert alone.scaling_efficiency_percent is None
    assert four.samples_per_second.median == pytest.approx(2 * alone.samples_per_second.median)
    assert four.scaling_efficiency_percent == pytest.approx(50.0)


def test_weak_and_strong_scaling():
    weak = figures.complete([one(seconds=(1.0,) * 3), one(4, seconds=(2.0,) * 3)], None)
    assert [each.scaling for each in weak] == [None, "weak"]
    strong = figures.complete([one(batch=128, seconds=(2.0,) * 3), one(4, batch=32, seconds=(1.0,) * 3)], None)
    assert (strong[1].scaling, strong[1].scaling_efficiency_percent) == ("strong", pytest.approx(50.0))  # speedup 2, on 4


def test_shared_batches_are_compared_by_global_batch():
    """One device is measured with both global batches, so it also has the per-replica batch of two devices."""
    sizes = [one(batch=64), one(batch=128, seconds=(4.0,) * 3), one(2, batch=32), one(2, batch=64, seconds=(2.0,) * 3)]
    got = figures.complete(sizes, None)
    assert [each.scaling for each in got[2:]] == ["strong", "strong"]
    assert got[3].scaling_efficiency_percent == pytest.approx(100.0)


def test_batch_size_of_the_data():
    own = Configuration("mirrored", names(2), "float32", False, 0)
    assert figures.measurement(own, raw(replicas=2, global_batch_size=48)).batch_size == 24


@pytest.mark.parametrize("other", [{"batch": 128}, {"precision": "mixed_float16"}, {"xla": True}, {"count": 2}, {"at_once": 8}])
def test_no_efficiency_relative_to_a_different_configuration(other):
    assert figures.complete([one(**other), one(4)], None)[1].scaling_efficiency_percent is None


def test_no_efficiency_relative_to_a_failed_configuration():
    failed = figures.measurement(ITEM, Measured("out of memory"))
    assert figures.complete([failed, one(4)], None)[1].scaling_efficiency_percent is None


def test_cost_of_an_epoch_at_a_price_per_hour():
    assert figures.cost(1800.0, 3.0) == pytest.approx(1.5)
    (got,) = figures.complete([one()], 3.6)
    assert got.cost_per_epoch == pytest.approx(0.002)
    assert got.cost_to_target is None
    assert figures.complete([one()], None)[0].cost_per_epoch is None


def test_profile_folder_and_summary():
    got = figures.measurement(ITEM, raw(profile=PROFILE))
    assert (got.profile, got.traced.device_seconds, got.profile_problem) == ("trace/one", 0.15, None)
    unread = figures.measurement(ITEM, raw(profile=replace(PROFILE, traced=None, problem="no host")))
    assert (unread.profile, unread.traced, unread.profile_problem) == ("trace/one", None, "no host")
    none = figures.measurement(ITEM, raw(profile=replace(PROFILE, recorded=False, traced=None, problem="busy")))
    assert (none.profile, none.traced, none.profile_problem) == (None, None, "busy")
    assert figures.measurement(ITEM, raw()).profile is None


def test_load_between_two_times():
    def sample(at, *busy):
        return Sampled(at, tuple(GpuSample(value) for value in busy))

    samples = [sample(9.9, 0, 0), sample(10.0, 5, 90), sample(15.0, 6, 100), sample(20.0, 7, 95), sample(20.1, 0, 0)]
    (load,) = figures.load(samples, 10.0, 20.0, {"GPU:0": 1})
    assert (load.device, load.samples, load.utilization_percent, load.power_watts) == ("GPU:0", 3, 97.5, None)
    # 90 % may be of the time before
    (short,) = figures.load(samples, 9.5, 10.2, {"GPU:0": 1})
    assert (short.samples, short.utilization_percent) == (2, None)
    assert figures.load(samples, 30.0, 40.0, {"GPU:0": 1}) == ()
    assert figures.load(samples, 10.0, 20.0, {"GPU:0": 7}) == ()


def test_all_clock_event_reasons():
    masks = ((1.0, 0x9), (2.0, 0x44), (3.0, None), (4.0, 0))
    samples = [Sampled(at, (GpuSample(clock_event_reasons=mask),)) for at, mask in masks]
    (load,) = figures.load(samples, 0.0, 9.0, {"GPU:0": 0})
    assert load.clock_event_reasons == ("GpuIdle", "HwSlowdown", "SwPowerCap", "HwThermalSlowdown")
    assert load.slowed_by == ("HwThermalSlowdown",)  # HwSlowdown of an idle GPU and SwPowerCap at full load are no faults


def test_timeline_starts_with_the_run():
    samples = [Sampled(100.0 + at, (GpuSample(), GpuSample(at, sm_clock_mhz=1980))) for at in range(3)]
    got = figures.timeline(samples, 99.5, {"GPU:0": 1, "GPU:1": 7})
    assert [(one.seconds, one.device, one.utilization_percent, one.power_watts) for one in got] == [
        (0.5, "GPU:0", 0, None),
        (1.5, "GPU:0", 1, None),
        (2.5, "GPU:0", 2, None),
    ]


@pytest.mark.parametrize("gpus", [1, 3, 8])
def test_long_timeline_is_thinned_out(gpus):
    samples = [Sampled(float(at), (GpuSample(at),) * gpus) for at in range(5001)]
    got = figures.timeline(samples, 0.0, {f"GPU:{number}": number for number in range(gpus)})
    assert figures.SAMPLES_MAX / 2 < len(got) <= figures.SAMPLES_MAX
    assert {one.device for one in got} == {f"GPU:{number}" for number in range(gpus)}
    assert got[0].seconds == 0.0
    assert got[-1].seconds > 4950
    assert all(one.utilization_percent == one.seconds for one in got)
