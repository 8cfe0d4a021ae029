"""Redaction takes time in proportion to the size of the report, and stops at its time limit."""

import itertools
import re

import msgspec
import slow_text
from reports.builders import report

from gpucheck.core.reports.redaction import names, pairs, redact, shapes

_SHORT = 1 << 10
_LONG = 1 << 14  # 16 times as long: 16 times as much for a linear pattern, 256 times for a quadratic one
_LARGEST_RATIO = 64  # ratio of the times, tolerant of a busy machine
_TOO_SHORT = 0.02  # CPU seconds too short to compare
_MARKS = ("a", "a.", "a@", "a-", "A_", "1.", "1:", "/a", "://", "a=", "\\", '"')
_PARTS = (*_MARKS, "password: ", "token", "user ", "GPU-0", "0123456789abcdef", "eyJ")
_OF_NAMES = ("PUBLIC", "NUMBERED", "SSH", "VERSIONED", "VERSION_BEFORE", "FOLDER_VARIABLES")  # or for a few letters before one


def _patterns():
    """Yield the patterns that are searched for in whole texts."""
    for number, shape in enumerate((*shapes.ANNOUNCED, *shapes.SHAPES)):
        yield f"shape {number}", shape.regex
    for module in (shapes, pairs, names):
        for name, pattern in vars(module).items():
            if isinstance(pattern, re.Pattern) and name not in _OF_NAMES:
                yield f"{module.__name__}.{name}", pattern


def _is_superlinear(search, start, part, sizes=(_SHORT, _LONG)):
    short, long = (min(slow_text.seconds(search, slow_text.text(start, part, size)) for _ in range(2)) for size in sizes)
    return long > max(_TOO_SHORT, _LARGEST_RATIO * short)


def _slow(pattern):
    """The attacks for which a pattern takes more than linear time."""

    def search(text):
        for _ in pattern.finditer(text):
            pass

    attacks = slow_text.attacks(pattern)[:200]
    attacks.sort(key=lambda attack: slow_text.seconds(search, slow_text.text(*attack, _SHORT)), reverse=True)
    return [attack for attack in attacks[:2] if _is_superlinear(search, *attack)]


def test_search_time_of_every_pattern_is_linear():
    assert {name: slow for name, pattern in _patterns() if (slow := _slow(pattern))} == {}


def test_quadratic_pattern_is_detected():
    assert _is_superlinear(re.compile(r"[\w.+-]+@").search, "", "a")


def _variable(name, value):
    return report("h200", [(f"environment.variables.{name}", value)])


def _machines(count):
    return ",".join(f"nI{number}x[0-4096]" for number in range(count))


def test_redaction_time_is_linear_in_the_length_of_a_text():
    empty = msgspec.structs.replace(report("h200"), facts={}, probes=(), outcomes=(), training=())

    def redact_text(text):
        redact(msgspec.structs.replace(empty, unknown_because=(text,)))

    assert [part for part in _PARTS if _is_superlinear(redact_text, "", part)] == []


def test_list_of_millions_of_hosts_is_not_expanded():
    made = redact(_variable("SLURM_JOB_NODELIST", f"{_machines(2000)},sekret[01-03]"), hosts=())
    assert "sekret" not in made.facts["environment"].variables["SLURM_JOB_NODELIST"]


def test_redaction_time_is_linear_in_the_number_of_gpus():
    def redact_gpus(text):
        redact(
            _variable(
                "CUDA_VISIBLE_DEVICES", " ".join(f"GPU-{number:08x}-0000-4000-8000-000000000000" for number in range(len(text)))
            )
        )

    assert not _is_superlinear(redact_gpus, "", "a", sizes=(100, 3200))


def test_values_are_omitted_if_there_is_no_time_to_redact_them():
    for most in (0, 10, 200):
        looks = itertools.count()
        made = redact(_variable("LD_LIBRARY_PATH", "/home/annika/x"), has_time=lambda looks=looks, most=most: next(looks) < most)
        assert "annika" not in str(made)
        assert (made.verdict, made.exit_code) == (report("h200").verdict, 0)
