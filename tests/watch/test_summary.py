"""The figures of a fit from given times, and their text."""

import msgspec
import pytest

from gpucheck.commands.watch.limits import Pipeline, limit
from gpucheck.commands.watch.monitor import Gpus, shown
from gpucheck.commands.watch.summary import Summary, lines, markdown, plot, write
from gpucheck.commands.watch.times import Times
from gpucheck.commands.watch.waiting import GapWait
from gpucheck.core.child.messages.drivers import GpuSample, Sampled, SamplerStarted
from gpucheck.core.model.fit import GpuUse, Metric

MAP = "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)"
SLOW = Summary(
    seconds=23.0,
    epochs=5,
    steps=25,
    epoch_seconds=(5.0, 4.5, 4.5, 4.5, 4.5),
    median_epoch_seconds=4.5,
    first_step_seconds=1.2,
    step_seconds=0.177,
    samples_per_second=90.3,
    input_wait_share=0.9,
    device="CPU",
)
GPU = GpuUse(index=0, utilization_percent=34.4, throttled_share=0.0, peak_bytes=3 << 30, total_bytes=140 << 30)


class Clock:
    """A clock with a settable time."""

    now = 0.0

    def __call__(self):
        return self.now


def test_times_of_two_epochs_with_fetches_between_steps():
    clock = Clock()
    times = Times(GapWait(clock), clock)
    for _ in range(2):
        times.epoch_begins()
        for step in range(3):
            clock.now += 3.0  # fetch
            times.step_begins(step, 1)
            clock.now += 1.0 if times.first_step_seconds else 10.0  # the first step is compiled
            times.step_ends(step)
        times.steps_end(3, 48.0)
        clock.now += 2.0  # validation
        times.steps_end(3, 48.0)
        times.epoch_ends()
    assert (times.steps, times.first_step_seconds, times.epochs) == (6, 10.0, [23.0, 14.0])
    assert times.steady_seconds == 1.0 + 4.0 + 12.0  # from the second step on; in later epochs from the first
    assert times.samples_per_second == (32 + 48) / 17.0
    assert times.input_wait_share == pytest.approx((3.0 + 9.0) / 17.0)


@pytest.mark.parametrize("reported_late", [False, True])
def test_step_that_finds_the_end_of_the_data_is_not_counted(reported_late):
    clock = Clock()
    times = Times(GapWait(clock), clock)
    for _ in range(2):
        times.epoch_begins()
        for step in range(3):
            times.step_begins(step, 1)
            clock.now += 1.0
            if step < 2 - reported_late:
                times.step_ends(step)
        times.steps_end(None, 8.0)  # the validation begins; Keras counted the samples of two steps
        if reported_late:
            times.step_ends(1)
        times.epoch_ends()
    assert (times.steps, times.steady_steps, times.samples) == (4, 3, 4.0 + 8.0)


def test_data_of_one_batch_has_no_steady_step():
    clock = Clock()
    times = Times(GapWait(clock), clock)
    times.epoch_begins()
    for step in range(2):
        times.step_begins(step, 1)
        clock.now += 1.0
        if step == 0:
            times.step_ends(step)
    times.steps_end(None, 8.0)
    times.epoch_ends()
    assert (times.steps, times.steady_steps, times.step_seconds) == (1, 0, None)


def test_validation_within_an_epoch():
    clock = Clock()
    times = Times(GapWait(clock), clock)
    times.epoch_begins()
    for step in range(6):
        if step == 3:
            times.steps_end(None, 12.0)
            clock.now += 100.0
        times.step_begins(step, 1)
        clock.now += 1.0
        times.step_ends(step)
    times.steps_end(None, 24.0)
    times.epoch_ends()
    assert (times.steps, times.steady_steps, times.steady_seconds) == (6, 5, 5.0)
    assert times.samples_per_second == 4.0


def test_fit_of_one_step_has_no_rate():
    clock = Clock()
    times = Times(GapWait(clock), clock)
    times.epoch_begins()
    times.step_begins(0, 1)
    clock.now = 5.0
    times.step_ends(0)
    times.steps_end(None, 16.0)
    assert (times.steps, times.first_step_seconds, times.step_seconds, times.input_wait_share) == (1, 5.0, None, None)


def test_short_wait_and_advice_for_arrays():
    summary = msgspec.structs.replace(SLOW, input_wait_share=0.21, input_wait_exact=True)
    text = str(limit(summary))
    assert text.startswith("the input pipeline slows this training: ")
    assert (
        "Change: a larger batch; for a tf.data.Dataset, also dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE) and cache()"
        in text
    )


def test_limit_is_a_sentence_of_the_report():
    summary = msgspec.structs.replace(SLOW, limit=limit(SLOW))
    assert "\nThe input pipeline limits" in markdown(summary)
    assert "<p>The input pipeline limits" in summary._repr_html_()


def test_lines_of_a_summary():
    metric = Metric(name="val_accuracy", last=0.93, best=0.94, best_epoch=4, best_after_seconds=18.5)
    summary = msgspec.structs.replace(
        SLOW, device="GPU", gpus=(GPU,), validation=metric, limit=limit(SLOW, Pipeline(place="data.py:12 in read"))
    )
    assert lines(summary) == [
        "gpucheck: 5 epochs, 25 steps, 23 s · 90.3 samples/s · median epoch 4.5 s · first step 1.2 s · 90 % of each step is spent waiting for data",
        "gpucheck: GPU 0 34 % busy, peak 3.0 GiB of 140.0 GiB · val_accuracy 0.93 (best 0.94 in epoch 4, after 18.5 s)",
        "gpucheck: the input pipeline limits this training (its Python code at data.py:12 in read): with the data ready, a step takes 17.7 ms"
        " instead of 177 ms. Change: move that work into TensorFlow operations, in dataset.map(f,"
        " num_parallel_calls=tf.data.AUTOTUNE), or into a keras.utils.PyDataset (workers=4, use_multiprocessing=True): at most 10 times as fast"
        " [input-pipeline-bound]",
    ]


@pytest.mark.parametrize(
    ("changes", "code", "most"),
    [
        ({}, "input-pipeline-bound", 10.0),
        ({"steps": 3}, None, None),
        ({"input_wait_share": 0.19}, "", None),
        ({"input_wait_share": None}, "", None),
        ({"input_wait_share": 0.5, "input_wait_exact": False}, "", None),
        ({"input_wait_share": 0.9, "input_wait_exact": False, "device": "GPU", "gpus": (GPU,)}, "input-pipeline-bound", 10.0),
        ({"device": "GPU", "gpus": (msgspec.structs.replace(GPU, utilization_percent=95.0),)}, "", None),
        ({"device": "GPU", "gpus": (msgspec.structs.replace(GPU, throttled_share=0.6),)}, "gpu-throttled", None),
        ({"device": "GPU", "gpus": (GPU,), "input_wait_share": 0.02}, "small-per-replica-batch", 100 / 34.4),
        ({"first_step_seconds": 15.0, "input_wait_share": 0.0}, "", 23 / 8),
    ],
)
def test_limit_of_a_training(changes, code, most):
    found = limit(msgspec.structs.replace(SLOW, **changes))
    assert (found if code is None else found.code or "") == code
    assert most is None or found.faster_at_most == pytest.approx(most)


@pytest.mark.parametrize(
    ("share", "processors", "change"),
    [
        (0.6, 8, f"{MAP} and cache(): at most 2.5 times as fast"),
        (0.6, 2, f"{MAP}: up to about 2.0 times as fast on 2 processors; and cache(): at most 2.5 times as fast"),
        (0.5, 2, f"{MAP} and cache(): at most 2.0 times as fast"),
        (0.8, 1.5, "cache(): at most 5.0 times as fast"),
        (0.8, None, f"{MAP} and cache(): at most 5.0 times as fast"),
    ],
)
def test_parallel_map_is_limited_by_the_processors(share, processors, change):
    found = limit(msgspec.structs.replace(SLOW, input_wait_share=share), Pipeline("dataset", None, processors))
    assert found.text.partition("Change: ")[2] == change


@pytest.mark.parametrize(
    ("data", "change"),
    [
        ("PyDataset", "several workers for the PyDataset, super().__init__(workers=4, use_multiprocessing=True)"),
        ("generator", "a keras.utils.PyDataset (workers=4, use_multiprocessing=True) instead of the generator"),
        ("arrays", "a larger batch"),
        ("DataLoader", "DataLoader(..., num_workers=...)"),
        (None, f"a larger batch; for a tf.data.Dataset, also {MAP} and cache()"),
    ],
)
def test_change_fits_the_kind_of_data(data, change):
    assert limit(SLOW, Pipeline(data, None, 2)).text.partition("Change: ")[2] == f"{change}: at most 10 times as fast"


def test_wait_of_a_whole_step_has_no_largest_gain():
    found = limit(msgspec.structs.replace(SLOW, input_wait_share=0.9999), Pipeline("dataset"))
    assert found.text.endswith("and cache(): more than 100 times as fast")


def test_nothing_is_concluded_from_a_wait_that_was_not_measured():
    unknown = msgspec.structs.replace(SLOW, input_wait_share=None)
    text = "what limits this training is unknown, because the wait for data was not measured: reason"
    assert limit(unknown, Pipeline(why_unmeasured="reason")).text == text
    idle = msgspec.structs.replace(unknown, device="GPU", gpus=(GPU,))
    assert limit(idle, Pipeline(why_unmeasured="reason")).text == text
    busy = msgspec.structs.replace(unknown, device="GPU", gpus=(msgspec.structs.replace(GPU, utilization_percent=95.0),))
    assert limit(busy, Pipeline(why_unmeasured="reason")).text.startswith("computing limits this training. ")


def test_change_for_pytorch():
    assert (
        "Change: DataLoader(..., num_workers=...): at most 10 times" in limit(msgspec.structs.replace(SLOW, backend="torch")).text
    )


def test_samples_of_visible_gpus():
    gpus = Gpus()
    gpus.found(SamplerStarted(None, ("GPU-a", "GPU-b", "GPU-c"), (10, 20, 30)), "2,0")
    for second in range(0, 90, 30):
        gpus.add(Sampled(float(second), (GpuSample(80, None, None, 0x40), GpuSample(0), GpuSample(0, None, None, 0))))
    assert gpus.idle(60.0, 60.0) == [2]
    assert gpus.idle(59.0, 60.0) == []
    assert gpus.uses((7,)) == (
        GpuUse(index=2, utilization_percent=0.0, throttled_share=0.0, peak_bytes=7, total_bytes=30),
        GpuUse(index=0, utilization_percent=80.0, throttled_share=1.0, total_bytes=10),
    )


def test_no_gpu_is_reported_if_all_are_idle():
    gpus = Gpus()
    gpus.found(SamplerStarted(None, ("GPU-a", "GPU-b"), (10, 20)), None)
    for second in (0.0, 90.0):
        gpus.add(Sampled(second, (GpuSample(0), GpuSample(0))))
    assert gpus.idle(90.0, 60.0) == []


@pytest.mark.parametrize(
    ("visible", "numbers"), [(None, (0, 1)), ("1", (1,)), ("1,7,0", (1,)), ("GPU-b", (1,)), ("-1", ()), ("", ()), ("MIG-x", ())]
)
def test_gpus_selected_by_cuda_visible_devices(visible, numbers):
    assert shown(visible, ("GPU-a", "GPU-b")) == numbers


def test_summary_is_written_as_json_markdown_and_html(tmp_path):
    summary = msgspec.structs.replace(SLOW, limit=limit(SLOW, Pipeline(place="<a>.py:1 in b")))
    for name in ("r.json", "r.md", "r.html"):
        write(summary, str(tmp_path / name))
    assert msgspec.json.decode((tmp_path / "r.json").read_bytes(), type=Summary) == summary
    assert (tmp_path / "r.md").read_text() == markdown(summary)
    assert "- 5 epochs, 25 steps, 23 s\n" in markdown(summary)
    page = (tmp_path / "r.html").read_text()
    assert page.index("The input pipeline limits") < page.index("<li>") < page.index("<rect")  # the conclusion first
    assert page.count("5 epochs, 25 steps, 23 s") == 1  # the heading
    assert "&lt;a&gt;.py" in summary._repr_html_()
    assert summary._repr_html_().count("<rect") == 5
    assert [label in summary._repr_html_() for label in (">epoch 1</text>", ">epoch 5</text>", "Time of each epoch: ")] == [
        True
    ] * 3
    assert plot([1.0]) == ""


def test_interrupted_epoch_counts_until_the_last_mark():
    clock = Clock()
    times = Times(GapWait(clock), clock)
    times.epoch_begins()
    for step in range(6):
        times.step_begins(step, 1)
        clock.now += 2.0
        times.step_ends(step)
        if step == 4:
            times.mark(40.0)
        clock.now += 1.0 if step < 5 else 0.0
    times.step_begins(6, 1)
    clock.now += 600.0  # a fetch that does not end; the interruption is found later
    times.interrupt()
    assert (times.steps, times.steady_steps, times.steady_seconds, times.samples) == (6, 4, 11.0, 32.0)
    assert times.input_wait_share == pytest.approx(3 / 11)
    assert (times.elapsed(), times.in_epoch) == (17.0, True)


def test_exception_after_an_epoch_does_not_shorten_it():
    clock = Clock()
    times = Times(GapWait(clock), clock)
    times.epoch_begins()
    times.step_begins(0, 1)
    clock.now = 1.0
    times.step_ends(0)
    times.steps_end(1, 8.0)
    clock.now = 5.0  # the validation
    times.epoch_ends()
    clock.now = 100.0
    times.interrupt()
    assert (times.elapsed(), times.epochs, times.steps, times.in_epoch) == (5.0, [5.0], 1, False)
