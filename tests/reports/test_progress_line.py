"""The progress line."""

import io

import pytest

from gpucheck.core.model import Level, Request
from gpucheck.core.model.progress import Activity
from gpucheck.core.reports.shared.progress_line import ProgressLine

IMPORTING = [Activity("framework", "import")]


class Terminal(io.StringIO):
    encoding = "utf-8"
    errors = None

    def isatty(self):
        return True

    def shown(self):
        """The line as a terminal shows it."""
        line = ""
        for piece in self.getvalue().split("\r"):
            line = piece + line[len(piece) :]
        assert "\n" not in line
        return line.rstrip()


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_no_progress_for_a_short_run(clock):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    clock.now += 0.4
    progress.update(["driver"], [])
    progress.close()
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("doing", "seconds", "line"),
    [
        ([], 1, "[1/4] Waiting for tensorflow, training · 1 s"),
        (IMPORTING, 9, "[2/4] Importing TensorFlow · 9 s (usually 2 to 7)"),
        ([Activity("nvml", "init"), *IMPORTING], 1, "[2/4] Importing TensorFlow · 1 s (usually 2 to 7)"),
        ([Activity("nvml", "init"), *IMPORTING], 14, "[1/4] Waiting for the NVIDIA driver · 14 s (usually below 1)"),
        (
            [Activity("framework", "train", "mirrored CPU:0,CPU:1,CPU:2 float32", "first step", 1, 3)],
            5,
            "[3/4] Training 2 of 3: mirrored CPU:0-2, first step · 5 s (usually 1 to 16)",
        ),
        (
            [Activity("framework", "checksums", step="repeating computations for 5 min")],
            40,
            "[3/4] Repeating computations for 5 min · 40 s",
        ),
        ([Activity("backend", "import")], 2, "[2/4] Importing JAX or PyTorch · 2 s (usually 2 to 7)"),
    ],
)
def test_line_names_the_pending_stage_and_its_usual_duration(clock, doing, seconds, line):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    progress.update(["tensorflow", "training"], doing)
    clock.now += seconds
    progress.update(["tensorflow", "training"], doing)
    assert stream.shown() == line


def test_time_restarts_with_each_stage(clock):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    progress.update(["keras"], IMPORTING)
    clock.now += 9
    progress.update(["keras"], [Activity("framework", "keras")])
    clock.now += 2
    progress.update(["keras"], [Activity("framework", "keras")])
    assert stream.shown() == "[2/4] Importing Keras · 2 s (usually below 7)"


TRAINING = Activity("framework", "train", "one_device CPU:0 float32", "first step", 3, 6)
TRYING = Activity("framework", "experiment", "scaling", "", 6, 9)


@pytest.mark.parametrize(
    ("doing", "seconds", "line"),
    [
        ([IMPORTING], [3], "░░░░░░░░░░ Importing TensorFlow · 3 s"),  # no estimate without a number of jobs
        ([IMPORTING, [TRAINING]], [6, 9], "█░░░░░░░░░ Training 4 of 6: one_device CPU:0, first step · 9 s · about 20 s left"),
        ([[TRYING]], [31], "██████░░░░ Trying 7 of 9 scaling · 31 s · about 20 s left"),
        ([[TRAINING], [TRYING], [TRAINING]], [9, 22, 4], "██████░░░░ Training 4 of 6: one_device CPU:0, first step · 4 s"),
    ],
)
def test_full_run_has_an_estimate_and_a_bar_that_never_shrinks(clock, doing, seconds, line):
    stream = Terminal()
    progress = ProgressLine(Request(level=Level.FULL), stream, clock, lambda: 100)
    for activities, later in zip(doing, seconds, strict=True):
        progress.update(["keras"], activities)
        clock.now += later
        progress.update(["keras"], activities)
    assert stream.shown() == line


def test_line_without_a_current_job(clock):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    clock.now += 1
    progress.update([], [Activity("worker", "train")])
    assert stream.shown() == "[3/4] Training with several workers · 0 s"


def test_benchmark_counts_its_configurations(clock):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    clock.now += 1
    for pending in (["a", "b", "c"], ["b", "c"]):
        progress.update(pending, [Activity("bench", "measure", "mirrored on 2 GPUs, float32", "run 1 of 3")])
    assert stream.shown() == "[2/3] Measuring mirrored on 2 GPUs, float32, run 1 of 3 · 0 s"
    progress.update([], [])
    assert stream.shown() == "Summarizing the measurements · 0 s"


@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (70, "[3/4] Training 2 of 3: mirrored CPU:0-2, fir… · 5 s (usually 1 to 16)"),
        (40, "[3/4] Training 2 of 3: mirrored… · 5 s"),
        (20, "[3/4] Traini… · 5 s"),
    ],
)
def test_line_is_shortened_in_a_narrow_terminal(clock, columns, line):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: columns)
    doing = [Activity("framework", "train", "mirrored CPU:0,CPU:1,CPU:2 float32", "first step", 1, 3)]
    progress.update([], doing)
    clock.now += 5
    progress.update([], doing)
    assert stream.shown() == line
    assert len(line) < columns


def test_pending_list_may_be_changed_by_its_owner(clock):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    pending = ["driver", "keras"]
    progress.update(pending, [])
    clock.now += 11
    pending.remove("driver")
    progress.update(pending, [])
    assert stream.shown() == "[1/4] Waiting for keras · 11 s"


def test_unchanged_line_is_not_written_again(clock):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    clock.now += 1
    for _ in range(10):
        progress.update(["keras"], [])
    assert stream.getvalue().count("Waiting") == 1


def test_close_clears_the_line(clock):
    stream = Terminal()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    clock.now += 1
    progress.update(["keras"], [])
    progress.close()
    assert stream.shown() == ""
    written = stream.getvalue()
    assert written.endswith("\r")
    clock.now += 5
    progress.update(["driver"], [])
    progress.close()
    assert stream.getvalue() == written


def test_line_is_never_wider_than_the_terminal(clock):
    stream = Terminal()
    width = 60
    progress = ProgressLine(Request(), stream, clock, lambda: width)
    clock.now += 1
    progress.update([f"probe_{number}" for number in range(50)], [])
    assert len(stream.shown()) == 59
    width = 30  # the window shrinks
    clock.now += 1
    progress.update([f"probe_{number}" for number in range(50)], [])
    assert len(stream.shown()) == 29


def test_no_progress_without_a_terminal(clock):
    stream = io.StringIO()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    clock.now += 20
    progress.update(["keras"], IMPORTING)
    progress.close()
    assert stream.getvalue() == ""


def test_line_is_ascii_if_the_stream_is_not_unicode(clock):
    class Latin(Terminal):
        encoding = "iso-8859-1"

    stream = Latin()
    progress = ProgressLine(Request(), stream, clock, lambda: 100)
    clock.now += 1
    progress.update([], [Activity("framework", "measure", "\x1b[31m\u202e·")])
    assert stream.shown() == "Measuring ?[31m?- - 0 s"


def test_closed_terminal_is_not_an_error(clock):
    class Gone(Terminal):
        def write(self, text):
            raise OSError(5, "Input/output error")

    progress = ProgressLine(Request(), Gone(), clock, lambda: 100)
    clock.now += 1
    progress.update(["keras"], [])
    progress.update(["driver"], [])
    progress.close()
