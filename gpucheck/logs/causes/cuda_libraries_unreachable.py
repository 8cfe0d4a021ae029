"""What of a log is cuda-libraries-unreachable."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._loading import loading
from gpucheck.rules._log import cite, weight
from gpucheck.rules._words import listing


def in_log(log: Log) -> Finding | None:
    """pip laid the libraries down, or opened their neighbours, and the loader does not find them."""
    found = loading(log)
    if found is None or found.code != "cuda-libraries-unreachable":
        return None
    names = listing(found.sonames) if found.sonames else "CUDA's libraries"
    one = len(found.sonames) == 1
    site = "$(python -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')"
    folder = "cusolver" if found.sonames == ["libcusolver.so.11"] else "*"
    export = (
        f'export LD_LIBRARY_PATH="{site}/nvidia/cusolver/lib${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
        if folder == "cusolver"
        else f'export LD_LIBRARY_PATH="$(echo {site}/nvidia/*/lib | tr " " ":")${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"'
    )
    return Finding(
        summary=f"{names} {'is' if one else 'are'} installed beside the other CUDA libraries, but not found where TensorFlow looks.",
        evidence=cite(*found.events),
        fix=(
            Fix(
                text="Let the loader look there, in the shell that starts Python"
                + (
                    "" if folder == "cusolver" else " (every folder at once slows XLA down; `gpucheck env` names the missing one)"
                ),
                command=export,
            ),
            Fix(
                text="Or use a release that finds them by itself",
                command='python -m pip install "tensorflow[and-cuda]==2.20.*"',
            ),
        ),
        severity=weight(found.events),
    )
