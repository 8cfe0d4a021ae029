"""Whether a probe got its result: if its child process ended early, its fact only records that."""

from gpucheck.core.model import Level, ProbeRun, ProbeStatus, Report, Request
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.keras import Keras
from gpucheck.core.probes.kernel_log import KernelLog
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training


def has_result(report: Report, run: ProbeRun) -> bool:
    """Whether a probe got its result."""
    return run.status is ProbeStatus.OK and why_no_result(report, run) is None


def why_no_result(report: Report, run: ProbeRun) -> str | None:
    """Why a completed probe has no result: how its child ended, and in which stage; None if it has one."""
    if run.status is not ProbeStatus.OK:
        return None
    match report.facts.get(run.name):
        case TensorFlow(devices=None, ending=str() as ending, stage=stage):
            return _in_stage(ending, stage)
        case Backend(devices=None, ending=ending):
            return ending
        case Keras(imported=None, error=error):
            return error or "no answer"
        case KernelLog() as log if (report.fact(Request) or Request()).level is Level.NODE:  # --quick does not read it
            return log.unread
        case DeviceNodes(ending=str() as ending):
            return ending
        case Training(runs=(), ending=str() as ending, stage=stage):
            return _in_stage(ending, stage)
    return None


def _in_stage(ending: str, stage: str | None) -> str:
    return f"{ending} in the stage {stage}" if stage else ending
