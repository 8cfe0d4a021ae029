"""Lines that a long run prints on standard error without a terminal, as in a batch job."""

import pytest

from gpucheck.cli.screen import progress_line
from gpucheck.core.model import Level, Request
from gpucheck.core.model.progress import Activity


class Host:
    def __init__(self, **request):
        self.request = Request(**request)
        self.doing = Activity("framework", "import")

    def activities(self):
        return [self.doing]


@pytest.mark.parametrize("request_of", [{"level": Level.FULL}, {"soak_minutes": 30.0}])
def test_one_line_for_each_job_of_a_long_run(request_of, capsys):
    host = Host(**request_of)
    with progress_line(host) as tick:
        tick([])
        for doing in (
            Activity("framework", "train", "one_device GPU:0 float32", "first step", 0, 2),
            Activity("framework", "train", "one_device GPU:0 float32", "more steps", 0, 2),
            Activity("framework", "experiment", "memory_growth", "", 3, 9),
            Activity("framework", "checksums", "", "repeating computations for 30 min"),
        ):
            host.doing = doing
            tick([])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "gpucheck: training 1 of 2: one_device GPU:0",
        "gpucheck: trying 4 of 9 memory growth",
        "gpucheck: repeating computations for 30 min",
    ]


def test_short_run_prints_no_lines(capsys):
    with progress_line(Host()) as tick:
        assert tick is None
    assert capsys.readouterr() == ("", "")
