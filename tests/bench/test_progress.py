"""The progress of a benchmark without a terminal, as in continuous integration."""

from gpucheck.cli.screen import measurement_lines
from gpucheck.core.model.progress import Activity


class Host:
    doing = Activity("bench", "import")

    def activities(self):
        return [self.doing]


def test_one_line_when_a_configuration_begins(capsys):
    host = Host()
    tick = measurement_lines(host)
    tick([])
    for job, step, pending in (("b", "warm-up", "ab"), ("b", "run 1", "ab"), ("a", "warm-up", "ab"), ("a", "run 1", "a")):
        host.doing = Activity("bench", "measure", job, step)
        tick(list(pending))
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "gpucheck: measuring 1 of 2: b\ngpucheck: measuring 2 of 2: a\n")
