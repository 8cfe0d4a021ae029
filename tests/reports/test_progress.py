"""The progress line."""

import io

import pytest

from gpucheck.reports.progress import Progress


class Terminal(io.StringIO):
    encoding = "utf-8"
    errors = None

    def isatty(self):
        return True

    def shown(self):
        """What the one line shows, as a terminal would."""
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


@pytest.fixture(autouse=True)
def _term(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def test_nothing_for_a_run_that_is_done_at_once(clock):
    stream = Terminal()
    progress = Progress(stream, clock)
    clock.now += 0.4
    progress.update(["driver"], None)
    progress.close()
    assert stream.getvalue() == ""


def test_shows_seconds_and_activity(clock):
    stream = Terminal()
    progress = Progress(stream, clock)
    clock.now += 1
    progress.update(["tensorflow", "training"], None)
    assert stream.shown() == "1 s · waiting for tensorflow, training"
    clock.now += 11
    progress.update(["training"], "training one_device on GPU:0 (float32)")
    assert stream.shown() == "12 s · training one_device on GPU:0 (float32)"


def test_says_what_takes_unusually_long(clock):
    stream = Terminal()
    progress = Progress(stream, clock)
    progress.update(["keras"], None)
    clock.now += 9
    progress.update(["keras"], None)
    assert "unusually" not in stream.shown()
    clock.now += 2
    progress.update(["keras"], None)
    assert stream.shown() == "11 s · unusually long: 11.0 s · waiting for keras"
    progress.update(["keras"], "importing TensorFlow")
    assert stream.shown() == "11 s · importing TensorFlow"


def test_pending_list_may_be_changed_by_its_owner(clock):
    stream = Terminal()
    progress = Progress(stream, clock)
    pending = ["driver", "keras"]
    progress.update(pending, None)
    clock.now += 11
    pending.remove("driver")
    progress.update(pending, None)
    assert stream.shown() == "11 s · waiting for keras"


def test_writes_only_what_changed(clock):
    stream = Terminal()
    progress = Progress(stream, clock)
    clock.now += 1
    for _ in range(10):
        progress.update(["keras"], None)
    assert stream.getvalue().count("waiting") == 1


def test_closing_takes_the_line_away_for_good(clock):
    stream = Terminal()
    progress = Progress(stream, clock)
    clock.now += 1
    progress.update(["keras"], None)
    progress.close()
    assert stream.shown() == ""
    written = stream.getvalue()
    assert written.endswith("\r")
    clock.now += 5
    progress.update(["driver"], None)
    progress.close()
    assert stream.getvalue() == written


def test_never_wider_than_the_terminal(clock):
    stream = Terminal()
    width = 60
    progress = Progress(stream, clock, lambda: width)
    clock.now += 1
    progress.update([f"probe_{number}" for number in range(50)], None)
    assert len(stream.shown()) == 59
    width = 30  # somebody makes the window smaller
    clock.now += 1
    progress.update([f"probe_{number}" for number in range(50)], None)
    assert len(stream.shown()) == 29


def test_silent_where_nobody_watches(clock, monkeypatch):
    for stream, term in ((io.StringIO(), "xterm"), (Terminal(), "dumb")):
        monkeypatch.setenv("TERM", term)
        progress = Progress(stream, clock)
        clock.now += 20
        progress.update(["keras"], "anything")
        progress.close()
        assert stream.getvalue() == ""


def test_ascii_where_the_stream_is(clock):
    class Latin(Terminal):
        encoding = "iso-8859-1"

    stream = Latin()
    progress = Progress(stream, clock)
    clock.now += 1
    progress.update([], "reading \x1b[31m\u202e·")
    assert stream.shown() == "1 s - reading ?[31m?-"


def test_a_terminal_that_goes_away_is_no_error(clock):
    class Gone(Terminal):
        def write(self, text):
            raise OSError(5, "Input/output error")

    progress = Progress(Gone(), clock)
    clock.now += 1
    progress.update(["keras"], None)
    progress.update(["driver"], None)
    progress.close()
