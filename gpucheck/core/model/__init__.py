"""The data types of a run: what it observes, judges and reports. No I/O; of gpucheck, imports only child messages and shells.

``Report`` is the one model of a run, JSON its serialized form. Every type is keyword-only and frozen, except ``TrainingRun``,
which a child fills in while it trains. None is *unknown*, never "no".
The decorators of rules and combiners are here too: each such file needs its decorator and some of the types.
"""

from gpucheck.core.child.messages.training import (
    JOB_BYTES,
    Checksums,
    DeviceChecksums,
    Loss,
    TrainingRun,
    WorkerFault,
    WorkerLink,
)
from gpucheck.core.model.fact import Fact, Reading, probe_of
from gpucheck.core.model.findings import (
    Change,
    Diagnosis,
    Evidence,
    Finding,
    Fix,
    Fixes,
    Outcome,
    Skip,
    repairs_first,
    saw,
)
from gpucheck.core.model.kinds import Action, ExitCode, Level, ProbeStatus, Scope, Severity, Status, Verdict
from gpucheck.core.model.plugin import combiner, rule
from gpucheck.core.model.report import SCHEMA_VERSION, Experiment, ProbeRun, Report, Tool
from gpucheck.core.model.request import (
    TIMEOUT_SECONDS,
    Expectations,
    FitExpectations,
    GpuExpectations,
    Mute,
    PromisedGpus,
    Request,
    TrainingExpectations,
    VersionExpectations,
)
from gpucheck.core.system.shells import Assignment, Operation

__all__ = (
    "JOB_BYTES",
    "SCHEMA_VERSION",
    "TIMEOUT_SECONDS",
    "Action",
    "Assignment",
    "Change",
    "Checksums",
    "DeviceChecksums",
    "Diagnosis",
    "Evidence",
    "ExitCode",
    "Expectations",
    "Experiment",
    "Fact",
    "Finding",
    "FitExpectations",
    "Fix",
    "Fixes",
    "GpuExpectations",
    "Level",
    "Loss",
    "Mute",
    "Operation",
    "Outcome",
    "ProbeRun",
    "ProbeStatus",
    "PromisedGpus",
    "Reading",
    "Report",
    "Request",
    "Scope",
    "Severity",
    "Skip",
    "Status",
    "Tool",
    "TrainingExpectations",
    "TrainingRun",
    "Verdict",
    "VersionExpectations",
    "WorkerFault",
    "WorkerLink",
    "combiner",
    "probe_of",
    "repairs_first",
    "rule",
    "saw",
)
