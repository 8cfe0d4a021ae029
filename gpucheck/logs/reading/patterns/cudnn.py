"""cuDNN and cuBLAS: versions, handles that could not be created, and their status words."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named


def _failed(match: "re.Match[str]") -> dict[str, str] | None:
    """Not what XLA expects to fail, and not the clean-up after a failure."""
    line = match.string
    if re.search(r"Failed to determine cuDNN version|(?i:could not destroy)|(?<![Ee]rror: CUDNN_)STATUS_SUCCESS", line):
        return None
    return named(match)


PATTERNS = (
    Pattern(
        Kind.CUDNN_VERSION_MISMATCH,
        ("loaded runtime cudnn", "loaded cudnn library"),
        r"(?i:Loaded (?:runtime )?CuDNN [a-z ]{7,9}): (?P<loaded>[\dX-Zx-z.]*[\dX-Zx-z])\b.{0,60}?compiled (?:with"
        r"|against):? (?P<compiled>[\dX-Zx-z.]*[\dX-Zx-z])\b",
        continuation_lines=3,
    ),
    # PyTorch
    Pattern(
        Kind.CUDNN_VERSION_MISMATCH,
        ("cudnn version incompatibility",),
        r"cuDNN version incompatibility: .{0,40}?compiled +against \(?(?P<compiled>[\d, "
        r"]+\d)\)?.{0,60}?runtime version \(?(?P<loaded>[\d, ]+\d)",
        continuation_lines=3,
    ),
    # JAX
    Pattern(
        Kind.CUDNN_VERSION_MISMATCH,
        ("was built against version",),
        r"Found cuDNN version (?P<loaded>\d+), but .{0,30}?built against version (?P<compiled>\d+)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.CUDA_VERSION_MISMATCH,
        ("was built against version",),
        r"Found (?P<library>cu(?!DNN)\w+|CUDA(?: \w+)?) version (?P<found>\d+), but .{0,30}?built against version (?P<built>\d+)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.CUDA_VERSION_MISMATCH,
        ("mismatches the version",),
        r"detected CUDA version \(?(?P<found>[\d.]+\d)\)? mismatches the version that was used to compile \w+ ?"
        r"\(?(?P<built>[\d.]+\d)",
        continuation_lines=3,
    ),
    Pattern(Kind.CUDA_TOOLKIT, ("cuda compilation tools",), r"Cuda compilation tools, release (?P<version>[\d.]+\d)"),
    Pattern(Kind.CUDNN_FAILED, ("cudnn_status_",), r"(?P<status>CUDNN_STATUS_[A-Z0-9_]+)", _failed),
    # what XLA and TensorFlow say of a cuDNN that they could not set up at all
    Pattern(Kind.CUDNN_ABSENT, ("dnn library is not found",), r"\bDNN library is not found", fixed()),
    Pattern(
        Kind.CUDNN_FAILED,
        (
            *("no dnn in stream executor", "dnn library", "cudnn failed to initialize", "create cudnn handle"),
            *("cudnn launch failure", "failed to get convolution algorithm"),
        ),
        r"No DNN in stream executor|DNN library initialization failed|cuDNN failed to initialize|cuDNN launch failure"
        r"|(?i:(?:could not|failed to) create cudnn handle|failed to get convolution algorithm)",
        _failed,
    ),
    Pattern(Kind.CUBLAS_FAILED, ("cublas_status_",), r"(?P<status>CUBLAS_STATUS_[A-Z0-9_]+)", _failed),
    Pattern(
        Kind.CUBLAS_FAILED,
        ("create cublas handle", "blas gemm launch failed", "blas sgemm launch failed", "blas xgemm", "blas gemv launch failed"),
        r"failed to create cublas handle|Blas \w+ launch failed"
        r"|attempting to perform BLAS operation using StreamExecutor without BLAS",
        fixed(),
    ),
    Pattern(Kind.CUBLAS_FAILED, ("without blas support",), r"BLAS operation using StreamExecutor without BLAS support", fixed()),
)
