"""Memory that ran out: on the GPU, in the host, in /dev/shm, and the limits of the operating system."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named

_SIZE = r"(?P<size>[\d.]+ ?(?:[KMGT]i?)?B?)\b"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def _allocator(name: str) -> str:
    """'gpu_host_bfc' hands out the host's memory, pinned for copies."""
    if re.match(r"(?i)(?:\w+_)?(?:gpu|cuda)_host", name):
        return "cpu"
    if re.match(r"(?i)gpu", name):
        return "gpu"
    return "cuda" if re.match(r"(?i)cuda|device", name) else "cpu"


def _exhausted(match: "re.Match[str]") -> dict[str, str] | None:
    """device, bytes and allocator, as far as the line gives them."""
    caught = named(match) or {}
    fields: dict[str, str] = {}
    if size := re.fullmatch(r"([\d.]+) ?([KMGT]?)i?B?", caught.get("size", "")):
        fields["bytes"] = str(int(float(size[1]) * _UNITS[size[2]]))
    if "bytes" in caught:
        fields["bytes"] = caught["bytes"]
    if "allocator" in caught:
        fields["allocator"] = _allocator(caught["allocator"])
    device = caught.get("device") or next(iter(re.findall(r"(?i)\bgpu_\d+(?=_bfc)", caught.get("allocator", ""))), "")
    if device:
        fields["device"] = device.upper().replace("_", ":").replace("GPU ", "GPU:")
        fields.setdefault("allocator", "cpu" if fields["device"].startswith("CPU") else "gpu")
    return fields


def _bfc(match: "re.Match[str]") -> dict[str, str] | None:
    fields = _exhausted(match)
    return None if match["harmless"] else fields


def _retried(match: "re.Match[str]") -> dict[str, str] | None:
    return _exhausted(match) if match["harmless"] else None


def _holders(match: "re.Match[str]") -> dict[str, str] | None:
    """What others hold of the GPU. In a container this process is not told apart from them: it may be the largest."""
    sizes = [_bytes(size) for size in re.findall(r"Process \d+ has ([\d.]+ [KMGT]iB) memory in use", match[0])]
    others = sum(sizes) - (0 if "this process has" in match[0] else max(sizes))
    return {"others": str(others), "total": str(_bytes(match["total"]))} if others else None


def _bytes(size: str) -> int:
    number, unit = re.findall(r"[\d.]+|[KMGT](?=i?B)", size)
    return int(float(number) * _UNITS[unit])


_SHORT = r"(?:显存|VRAM|GPU ?内存|GPUメモリ) ?(?:不足|溢出|不够)|(?:GPU 메모리|VRAM) 부족"
_RAN_OUT = (
    r"Allocator (?:\((?P<allocator>\w+)\) )?ran out of memory trying to allocate(?: "
    + _SIZE
    + r"|\W*$)(?:(?!Allocator).){0,120}?"
    r"(?:(?P<harmless>not a failure)|$|Current allocation|If the cause)"
)

PATTERNS = (
    Pattern(Kind.OUT_OF_MEMORY, ("ran out of memory",), _RAN_OUT, _bfc, continuation_lines=2),
    Pattern(Kind.ALLOCATION_RETRIED, ("ran out of memory",), _RAN_OUT, _retried, continuation_lines=2),
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("oom when allocating",),
        r"OOM when allocating tensor.{0,120}?device:(?P<device>[GC]PU:\d+) by allocator (?P<allocator>\w+)",
        _exhausted,
        continuation_lines=3,
    ),
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("failed to allocate",),
        r"failed to (?:allocate|alloc) [\d.]{1,20}\w{0,8} ?\((?P<bytes>\d+) bytes\) from device: "
        r"(?P<allocator>CUDA)_ERROR_OUT_OF_MEMORY",
        _exhausted,
        continuation_lines=3,
    ),
    Pattern(
        Kind.OUT_OF_MEMORY, ("out of memory",), r"Out of memory while trying to allocate (?P<bytes>\d+)(?: bytes)?", _exhausted
    ),
    Pattern(Kind.OUT_OF_MEMORY, ("out of memory",), r"Out of memory while trying to allocate " + _SIZE, _exhausted),
    # PyTorch
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("cuda out of memory",),
        r"(?P<allocator>CUDA) out of memory(?:\.|(?=[`'\"”*)]|\s*$))(?: Tried to allocate "
        + _SIZE
        + r")?(?:.{0,10}?(?P<device>GPU \d+))?",
        lambda match: {**(_exhausted(match) or {}), "allocator": "gpu"},
    ),
    Pattern(
        Kind.GPU_MEMORY_HOLDERS,
        ("total capacity of",),
        r"total capacity of (?P<total>[\d.]+ [KMGT]iB)\b.{0,80}?Process \d+ has [\d.]+ [KMGT]iB memory in use.*",
        _holders,
        continuation_lines=3,
    ),
    # named as an error in Chinese, Japanese and Korean: the words alone are advice, mostly
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("显存", "vram", "gpu内存", "gpu 内存", "gpuメモリ", "gpu 메모리"),
        rf"(?i)(?:报错|错误|异常|问题|症状|error|OOM|エラー|오류)[^\n]{{0,16}}(?:{_SHORT})"
        rf"|(?:{_SHORT})\W{{0,4}}(?:OOM|报错|错误|エラー|오류|error)",
        fixed(allocator="gpu"),
    ),
    # no room for so much as a context
    Pattern(
        Kind.GPU_MEMORY_FULL,
        ("primaryctxretain", "cuctxcreate"),
        r"cu(?:DevicePrimaryCtxRetain|CtxCreate)\w{0,12}\W[^\n]{0,40}?CUDA_ERROR_OUT_OF_MEMORY",
        fixed(),
        continuation_lines=1,
    ),
    # CuPy, ROCm, Apple's and Intel's devices, ONNX Runtime; Java's is the host's
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("outofmemoryerror", "out of memory"),
        r"(?<!lang\.)\b(?P<allocator>OutOfMemoryError)\b(?:: Out of memory allocating (?P<bytes>[\d,]+) bytes)?"
        r"|\b(?P<framework>HIP|XPU|MPS backend) out of memory\b",
        lambda match: {"allocator": "gpu", **({"bytes": match["bytes"].replace(",", "")} if match["bytes"] else {})},
    ),
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("allocate memory for requested buffer",),
        r"Failed to allocate memory for requested buffer of size (?P<bytes>\d+)",
        _exhausted,
    ),
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("out of memory",),
        r"(?i:cuda)(?: runtime)? error(?: ?\(2\))?\W{1,3}out of memory|\b[Ss]tatus: (?:Internal: )?out of memory",
        lambda _: {"allocator": "cuda"},
    ),
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("failed to allocate",),
        r"Failed to allocate (?P<bytes>\d+) bytes (?:for new constant|on device)",
        _exhausted,
    ),
    # gRPC says RESOURCE_EXHAUSTED of messages, too
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("resource_exhausted", "resource exhausted", "resourceexhaustederror", "oom when allocating"),
        r"(?:(?i:resource[_ ]exhausted)|ResourceExhaustedError)\b(?!.{0,60}(?i:larger than max|quota"
        r"|message size|too many requests|shm|open files))"
        r".{0,120}?(?:OOM|(?i:out of memory|allocat\w+|graph execution error)|$)(?:.{0,200}?device:(?P<device>[GC]PU:\d+))?",
        _exhausted,
        continuation_lines=3,
    ),
    Pattern(Kind.OUT_OF_MEMORY, ("oom when allocating",), r"\bOOM when allocating tensor(?: with shape|\W*$)", fixed()),
    # a copy to the GPU whose target found no room
    Pattern(Kind.OUT_OF_MEMORY, ("dst tensor is not",), r"\bDst tensor is not initialized", fixed(allocator="gpu")),
    Pattern(
        Kind.OUT_OF_MEMORY,
        ("cuda_error_out_of_memory", "cudaerrormemoryallocation"),
        r"^(?!.*\b(?:on host|host memory)\b).*?(?:CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation)",
        lambda _: {"allocator": "cuda"},
    ),
    # -- the host --
    Pattern(
        Kind.HOST_OUT_OF_MEMORY,
        (
            "out of memory: kill",
            "cgroup out of memory",
            "killed process",
            "oom-kill",
            "oom_kill",
            "oomkilled",
            "srun: error",
            "oom-killer",
            "oom killer",
        ),
        r"(?:Killed|Kill) process (?:\d+ )?\((?P<process>[^)]+)\)|(?P<invoker>\b[\w.-]{1,40}) invoked oom-killer|oom[_-]kill"
        r"|OOMKilled|srun: error: [^\n]{0,60}Out Of Memory|cgroup out[ -]of[ -]memory"
        r"|\b(?i:OOM killer)\b(?! (?:is )?disabled)",
    ),
    Pattern(
        Kind.HOST_OUT_OF_MEMORY,
        ("std::bad_alloc", "memoryerror", "cannot allocate memory", "defaultcpuallocator"),
        r"std::bad_alloc|\b_?(?:Array)?MemoryError\b(?::|$)|^(?!.*\bibv_)(?:.*)[Cc]annot allocate memory"
        r"|DefaultCPUAllocator: (?:can't|not enough)",
        fixed(),
    ),
    # batch systems
    Pattern(
        Kind.HOST_OUT_OF_MEMORY,
        ("memory limit", "term_memlimit"),
        r"(?i:exceeded (?:the )?(?:(?:job|step|cgroup|virtual|requested) )?memory limit)|TERM_MEMLIMIT",
        fixed(),
    ),
    # Kubernetes takes a pod off a node that is short of it
    Pattern(Kind.HOST_OUT_OF_MEMORY, ("low on resource",), r"low on resource: memory\b", fixed()),
    # memory of the host that CUDA pins for copies, whichever of its errors says so
    Pattern(
        Kind.HOST_OUT_OF_MEMORY,
        ("bytes on host", "host memory of size", "pinned memory", "pinned host memory"),
        r"failed to alloc(?:ate)? (?P<bytes>\d+) bytes on host\b|could not allocate (?:pinned )?host memory of size"
        r"|(?i:(?:failed|unable) to allocate)[^\n]{0,40} pinned (?:host )?memory",
        fixed(),
    ),
    Pattern(Kind.HOST_OUT_OF_MEMORY, ("out of host memory",), r"(?i:out of host memory)", fixed()),
    # -- /dev/shm --
    Pattern(
        Kind.SHARED_MEMORY_EXHAUSTED,
        ("shared memory", "torch_", "/dev/shm", "bus error", "dataloader worker", "posix_fallocate"),  # noqa: S108
        r"insufficient shared memory|unable to (?:write to|open) file </torch_\d"
        r"|unable to (?:open|allocate|resize|write to) shared memory"
        r"|shared memory segment (?P<path>(?:/dev/shm/|nccl-shm-)\S{1,120})(?![^\n]{0,60}No such file)"  # missing, not full
        r"|NCCL WARN[^\n]{0,40}\bposix_fallocate\b[^\n]{0,20}[Nn]o space left"
        r"|(?P<folder>/dev/shm)[^\n]{0,120}?(?:[Nn]o space left|too small|[Cc]annot allocate)"
        r"|[Nn]o space left on device[^\n]{0,40}/dev/shm"
        r"|[Ll]oader worker.{0,60}killed by signal(?:: Bus error|:? *(?=[`'\"]|$))",
    ),
    # -- limits --
    Pattern(
        Kind.THREAD_LIMIT,
        ("pthread_create", "start new thread", "thread creation failed", "resource temporarily unavailable", "std::system_error"),
        r"pthread_create\W.{0,30}?(?:failed|error|Resource temporarily)|can't start new thread|[Tt]hread creation failed"
        r"|(?:(?:fork|clone|retry)\b|std::system_error\W).{0,20}Resource temporarily unavailable",
        fixed(),
        continuation_lines=1,
    ),
    Pattern(  # file descriptors that a worker process was to be handed
        Kind.OPEN_FILES_LIMIT,
        ("too many open files", "items of ancdata"),
        r"[Tt]oo many open files|received 0 items of ancdata",
        fixed(),
    ),
    Pattern(
        Kind.CPU_TIME_LIMIT,
        ("time limit exceeded", "cputime", "sigxcpu"),
        r"\b(?:CPU ?time|[Cc]putime) limit exceeded|\bSIGXCPU\b",
        fixed(),
    ),
    Pattern(
        Kind.FILE_SIZE_LIMIT,
        ("file size limit exceeded", "file too large", "sigxfsz"),
        r"\b[Ff]ile ?size limit exceeded|\[Errno 27\] File too large|\bSIGXFSZ\b",
        fixed(),
    ),
    Pattern(
        Kind.LOCKED_MEMORY_LIMIT, ("memlock",), r"(?i:memlock)\b.{0,60}?(?:too (?:low|small)|exceeded|is \d+ bytes)", fixed()
    ),
    # -- memory growth --
    Pattern(
        Kind.MEMORY_GROWTH_TOO_LATE,
        ("devices cannot be modified",),
        r"(?:Physical|Virtual|Logical|Visible) devices cannot be modified (?:after|once)",
        fixed(),
        continuation_lines=3,
    ),
    Pattern(
        Kind.MEMORY_GROWTH_TOO_LATE,
        ("cannot set memory growth", "must be set before gpus"),
        r"Cannot set memory growth.{0,40}initialized|[Mm]emory growth must be set before GPUs have been initialized",
        fixed(),
        continuation_lines=3,
    ),
    Pattern(
        Kind.MEMORY_GROWTH_MIXED, ("memory growth cannot differ",), r"Memory growth cannot differ between GPU devices", fixed()
    ),
    Pattern(
        Kind.MEMORY_GROWTH_MIXED,
        ("memory growth",),
        r"(?i:memory growth).{0,40}(?:must|needs to|should) be the same (?:on|across|for) (?:all )?GPUs",
        fixed(),
        continuation_lines=3,
    ),
)
