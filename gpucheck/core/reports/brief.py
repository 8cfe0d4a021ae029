"""At most fifteen lines to paste into an issue: the verdict, and the fields of TensorFlow's and Keras' issue forms."""

from collections.abc import Iterator

from gpucheck.core.model import Report, Verdict
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.reports.shared.areas import areas
from gpucheck.core.reports.shared.findings import root_code
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import cut, line

LINE_BYTES = 300
WHEELS = ("nvidia-cuda-runtime", "nvidia-cudnn")  # for the field "CUDA/cuDNN version"


def render(report: Report) -> str:
    """Render a block of Markdown, with a line for each known field."""
    lines = [f"{name:11} {line(text)}" for name, text in _fields(report) if text]
    return "\n".join(["```text", *(cut(one.replace("```", "'''"), LINE_BYTES) for one in lines), "```", ""])


def _fields(report: Report) -> Iterator[tuple[str, str]]:
    checklist = areas(report)
    seen = {area.name: area.words for area in checklist}
    driver = ("driver " if any(area.name == "driver" and area.state == "ok" for area in checklist) else "") + seen["driver"]
    code = root_code(report)
    yield "gpucheck", f"{report.tool.version}, {report.verdict.value.upper()}" + (f": {code}" if code else "")
    yield "OS", seen["system"]
    yield "Python", _python(report.fact(Interpreter))
    yield "TensorFlow", _tensorflow(report)
    yield "Keras", seen.get("keras", "")  # a node's report has no areas of an environment
    yield "CUDA", f"{driver}{_wheels(report.fact(Packages))}"
    yield "GPU", seen["gpus"]
    yield "libraries", seen.get("libraries", "")
    yield "devices", seen.get("backend") or seen.get("tensorflow", "")
    yield "training", seen.get("training", "")
    yield "variables", _variables(report.fact(Environment))
    yield "cause", headline(report) if report.verdict is not Verdict.PASS else ""
    yield "also", ", ".join(finding.code for finding in report.findings if finding.code != code)


def _python(interpreter: Interpreter | None) -> str:
    if interpreter is None:
        return ""
    return f"{interpreter.version}, {interpreter.environment or 'no virtual environment'}" + (
        f", pip {interpreter.pip_version}" if interpreter.pip_version else ""
    )


def _tensorflow(report: Report) -> str:
    """Return the installed distribution and what it was built with, and the other backend if Keras uses one."""
    packages, tensorflow, backend = report.fact(Packages), report.fact(TensorFlow), report.fact(Backend)
    installed = packages.tensorflow if packages else None
    words = (
        [] if packages is None else [f"{installed.name} {installed.version}, a binary (pip)" if installed else "not installed"]
    )
    if tensorflow and tensorflow.built_with_cuda is not None:
        built = [f"CUDA {tensorflow.cuda_version}" if tensorflow.cuda_version else "CUDA"] * tensorflow.built_with_cuda
        built += [f"cuDNN {tensorflow.cudnn_version}"] * bool(built and tensorflow.cudnn_version)
        words.append(f"built with {', '.join(built)}" if built else "built without CUDA")
    if backend and backend.other:
        words.append(backend.title)
    return "; ".join(words)


def _wheels(packages: Packages | None) -> str:
    named = [f"{one.name} {one.version}" for one in (packages.nvidia if packages else ()) if one.name.startswith(WHEELS)]
    return "".join(f"; {one}" for one in named)


def _variables(environment: Environment | None) -> str:
    return " ".join(f"{name}={value}" for name, value in (environment.variables if environment else {}).items())
