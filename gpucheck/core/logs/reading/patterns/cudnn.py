"""cuDNN and cuBLAS: versions, handles that could not be created, and their status words."""

import re

from gpucheck.core.logs.reading.patterns import named


def _failed(match: "re.Match[str]") -> dict[str, str] | None:
    """Not what XLA expects to fail, and not the clean-up after a failure."""
    line = match.string
    if re.search(r"Failed to determine cuDNN version|(?i:could not destroy)|(?<![Ee]rror: CUDNN_)STATUS_SUCCESS", line):
        return None
    return named(match)
