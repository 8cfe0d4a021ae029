"""Reports of recorded machines with expectations."""

import time

from changes import apply
from fakes import machine, readings

from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.judgement import judge
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.model import ProbeStatus, Reading, Request
from gpucheck.core.model.fact import Facts

RULES = load_rules()
ABOVE_QUICK = ("tensorflow", "keras", "training", "log", "tpu_resolver")


def report(changes=None, name="h200", *, rules=RULES, without=(), failed=(), unobserved=(), **request):
    """A recorded machine with changes (path -> value), judged; ``without``: facts not requested, ``failed``: probes that failed."""
    plain = apply(machine(name), tuple((changes or {}).items()))
    for probe in ("request", *unobserved):
        plain.pop(probe)
    asked = Request(**request)
    given = [one for one in readings(plain, asked) if one.probe not in (*without, *failed)]
    judged = judge(Facts(given), rules)
    own = [one for one in given if one.probe != "request"]
    own += [Reading(probe=one, status=ProbeStatus.SKIPPED, problem="not checked with --quick") for one in without]
    own += [Reading(probe=one, status=ProbeStatus.TIMED_OUT, problem="did not respond within 9 s") for one in failed]
    return assemble(asked, own, judged, load_rows(), time.monotonic())
