"""TensorFlow's own account: devices found, created, ignored or hidden, and the diagnosis it prints after a failed cuInit."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named

_LOCAL_GPU = r"(?:/job:localhost)?(?:/(?:replica|task):\d+)*/device:GPU:"
_IGNORED = r"Ignoring (?:visible )?gpu device(?: \(device: (?P<device>\d+), name: (?P<name>[^,)]{1,80})(?=[,)]))?"


def _counted(match: "re.Match[str]") -> dict[str, str] | None:
    return {"count": str(len(re.findall(r"physical_device:(?:XLA_)?GPU:\d+", match[0])))}


def _added(match: "re.Match[str]") -> dict[str, str] | None:
    return {"count": str(len(re.findall(r"\d+", match["devices"] or "")))}


def _strategy(match: "re.Match[str]") -> dict[str, str] | None:
    devices = re.findall(r"(?:device:)?\b(GPU|CPU|TPU):(\d+)", match["devices"])
    kinds = sorted({kind for kind, _ in devices})
    return {"devices": ",".join(kinds), "count": str(len(devices))} if devices else None


def _requested(match: "re.Match[str]") -> dict[str, str] | None:
    """asked and count; without any GPU the trouble is another one."""
    asked = match["count"] or str(len(re.findall(r"\d+", match["wanted"])))
    found = len(re.findall(r"(?<!xla_)gpu:\d+|(?<![\w:])\d+", match["found"]))
    return {"asked": asked, "count": str(found)} if found else None


def _invisible(match: "re.Match[str]") -> dict[str, str] | None:
    """devices, the lowest first. Of a cluster's jobs TensorFlow says so of devices that only go by another name."""
    numbers = re.findall(rf"(?:^|,){_LOCAL_GPU}(\d+)", match["devices"])
    return {"devices": ",".join(f"GPU:{number}" for number in sorted(map(int, numbers)))} if numbers else None


def _container(match: "re.Match[str]") -> dict[str, str] | None:
    """Docker names a container's host by twelve hexadecimal digits."""
    host = match["host"]
    return {"host": host} if re.search(r"\d", host) and re.search(r"[a-f]", host) else None


PATTERNS = (
    Pattern(
        Kind.GPU_LIBRARIES_MISSING,
        ("cannot dlopen some", "skipping registering gpu devices"),
        r"(?i:cannot dlopen some (?:GPU|CUDA) libraries|skipping registering GPU devices)",
        fixed(),
    ),
    Pattern(Kind.CUDA_DRIVERS_NOT_FOUND, ("find cuda drivers",), r"(?i:could not find cuda drivers)", fixed()),
    Pattern(
        Kind.CUDA_RUNTIME_UNAVAILABLE,
        ("error loading cuda libraries",),
        r"(?:call to (?P<call>\w+): )?Error loading CUDA libraries",
        continuation_lines=3,
    ),
    # -- devices --
    Pattern(
        Kind.GPU_CREATED,
        ("device:gpu:",),
        r"Created (?:TensorFlow )?device \(?\S*?device:(?P<device>GPU:\d+) with (?P<memory_mb>\d+) MB memory"
        r".{0,40}?name: (?P<name>[^,]+), pci bus id: (?P<pci>[^,)]+)(?:, compute capability: (?P<capability>\d+\.\d+))?",
        continuation_lines=3,
    ),
    Pattern(
        Kind.GPU_CREATED,
        ("creating tensorflow device",),
        r"Creating TensorFlow device \(/(?:device:)?(?i:gpu):(?P<index>\d+)\).{0,20}?name: (?P<name>[^,]+)"
        r"(?:, pci bus id: (?P<pci>[\w:.]+))?(?:, compute capability: (?P<capability>\d+\.\d+))?",
        lambda match: {**(named(match) or {}), "device": f"GPU:{match['index']}"},
        continuation_lines=3,
    ),
    Pattern(
        Kind.GPU_IGNORED,
        ("gpu device (device:",),
        _IGNORED + r".{0,160}?(?i:capability:? (?P<capability>\d+\.\d+))?\)?.{0,20}?"
        r"(?:multiprocessor count|core count): (?P<count>\d+)(?:.{0,40}?minimum required (?:\w+ )?count is (?P<minimum>\d+))?",
        fixed(reason="multiprocessors"),
        continuation_lines=3,
    ),
    Pattern(
        Kind.GPU_IGNORED,
        ("gpu device (device:",),
        _IGNORED + r".{0,160}?with Cuda compute capability (?P<capability>\d+\.\d+)"
        r"(?:.{0,40}?minimum required Cuda capability is (?P<minimum>\d+\.\d+))?",
        fixed(reason="capability"),
        continuation_lines=3,
    ),
    # PyTorch's words for the same
    Pattern(
        Kind.GPU_IGNORED,
        ("of cuda capability",),
        r"Found GPU(?P<device>\d+) (?P<name>.{1,80}?) which is of cuda capability (?P<capability>\d+\.\d+)"
        r"(?:.{0,160}?minimum cuda capability supported by this library is (?P<minimum>\d+\.\d+))?",
        fixed(reason="capability"),
        continuation_lines=3,
    ),
    Pattern(
        Kind.GPU_IGNORED,
        ("no longer supports this gpu",),
        r"no longer supports this GPU because it is too old",
        fixed(reason="capability"),
    ),
    Pattern(
        Kind.GPU_FOUND,
        ("found device",),
        r"Found device (?P<device>\d+) with properties:.{0,60}?name: (?P<name>.+?)"
        r"(?: major: (?P<major>\d+) minor: (?P<minor>\d+)| computeCapability: (?P<capability>[\d.]+))",
        continuation_lines=3,
    ),
    Pattern(
        Kind.GPU_MEMORY, ("freememory:",), r"totalMemory: (?P<total>[\d.]+ ?[KMGT]i?B) freeMemory: (?P<free>[\d.]+ ?[KMGT]i?B)"
    ),
    Pattern(
        Kind.GPU_MEMORY,
        ("total memory:",),
        r"^Total memory: (?P<total>[\d.]+ ?[KMGT]i?B) Free memory: (?P<free>[\d.]+ ?[KMGT]i?B)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.GPUS_LISTED,
        ("list_physical_devices", "list_logical_devices"),
        r"list_(?:physical|logical)_devices\((?:device_type ?= ?)?['\"](?i:GPU)['\"]\)[)`*]*"
        r"(?:(?: *[:=,]| *(?:->|\u2192)|(?: (?!(?:or|and|if|else|in)\b)[^\W\d]{1,12}){1,4}?:?) *| *)"
        r"(?:[`*]*\[\][`*]*(?:$|[.,;]| \w)|empty list\b)",
        fixed(count="0"),
        continuation_lines=1,
    ),
    # the answer in a comment behind the question
    Pattern(
        Kind.GPUS_LISTED,
        ("list_physical_devices", "list_logical_devices"),
        r"list_(?:physical|logical)_devices\((?:device_type ?= ?)?['\"](?i:GPU)['\"]\)[)`*;]* *#+\W{0,4}"
        r"(?i:(?:the|it|this|still|only|just|always|outputs?|results?|answers?|shows?|prints?|printed|returns?|returned|gives?|is)\b"
        r"\W{1,3}){0,4}\[\](?!\W{0,3}(?i:if|when|where|unless|until|before|without|with|or|on|for|in|means?)\b)",
        fixed(count="0"),
    ),
    Pattern(
        Kind.GPUS_LISTED,
        ("cuda.is_available()", "is_gpu_available()", "is cuda available", "cuda available"),
        r"(?:cuda\.is_available\(\)|is_gpu_available\(\)|(?:Is )?CUDA [Aa]vailable)[)`*]*(?:[ :?=]|->|→)*"
        r"(?:[^\W\d]{1,12}\W{1,2})?False\b",
        fixed(count="0"),
        continuation_lines=1,
    ),
    Pattern(
        Kind.GPUS_LISTED,
        ("available devices are",),
        r"/device:GPU:\d+ but available devices are \[(?!.{0,800}?device:GPU)",
        fixed(count="0"),
        continuation_lines=3,
    ),
    Pattern(  # Keras' multi_gpu_model and PyTorch Lightning
        Kind.GPUS_LISTED,
        ("machine only has",),
        r"(?i:(?:this|your) machine only has): \[(?:'/(?i:xla_)?(?i:cpu):\d+'(?:, )?)*\]",
        fixed(count="0"),
        continuation_lines=1,
    ),
    Pattern(
        Kind.GPUS_LISTED,
        ("gpus:", "gpus available", "gpu available", "gpus =", "gpu devices:", "gpu is not available"),
        r"(?i:\b(?:(?:available |physical |logical |visible |detected |list of )GPUs?(?: devices)?"
        r"|GPUs?(?: available| found| detected| devices))\W{1,4}\[\]|\bGPUs ?[:=]+ ?\[\]"
        r"|\b(?:num(?:ber)?(?: of)? GPUs?) ?[:=]+ ?0\b|\bGPUs? available ?[:=?]+ ?False\b|^GPU is NOT AVAILABLE$)",
        fixed(count="0"),
    ),
    Pattern(Kind.GPUS_LISTED, ("num gpus available",), r"Num GPUs Available: *(?P<count>\d+)"),
    Pattern(Kind.GPUS_LISTED, ("physicaldevice(name=",), r"\[PhysicalDevice\(name=.*", _counted),
    Pattern(Kind.GPUS_LISTED, ("adding visible gpu devices",), r"Adding visible gpu devices:(?P<devices>[ \d,]*)$", _added),
    Pattern(
        Kind.KERNELS_JIT_COMPILED,
        ("not built with cuda kernel binaries",),
        r"not built with CUDA kernel binaries compatible with compute capability (?P<capability>\d+\.\d+)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.PLACEMENT_FAILED,
        ("could not satisfy explicit device specification",),
        r"Could not satisfy explicit device specification '(?P<device>[^']*)'(?! because no supported kernel)",
    ),
    Pattern(
        Kind.PLACEMENT_FAILED,
        ("explicitly assigned to",),
        r"explicitly assigned to (?P<device>\S*device:GPU:\d+) but available devices are",
        continuation_lines=1,
    ),
    # Only heavy ops: small ones belong on the CPU of a healthy machine too.
    # TensorFlow's word for a kernel that failed before: which way, it no longer knows
    Pattern(Kind.CUDA_ERROR, ("gpu sync failed",), r"\bGPU sync failed", fixed(code="719", name="CUDA_ERROR_LAUNCH_FAILED")),
    Pattern(
        Kind.CPU_FALLBACK,
        ("executing op", "): /job:"),
        r"(?:Executing op |\()(?P<op>(?:Batch|_Fused|Fused|Depthwise)?(?:MatMul|Conv[123]D|BatchNorm|Einsum)\w*)"
        r"(?: in device |\): )\S+device:CPU:\d+",
    ),
    # kernels of the CPU know one memory layout, and models for a GPU are given the other
    Pattern(
        Kind.CPU_FALLBACK,
        ("only supports",),
        r"\bCPU\b[^\n]{0,60}only supports (?:the )?NHWC|only supports (?:the )?NHWC[^\n]{0,30} on the CPU",
        fixed(op="convolution"),
    ),
    Pattern(Kind.CPU_FALLBACK, ("are non-gpu devices",), r"non-GPU devices in `?tf\.distribute", fixed(op="strategy")),
    # -- strategies --
    Pattern(
        Kind.STRATEGY_DEVICES,
        ("strategy with devices",),
        r"Using (?P<strategy>\w*Strategy) with devices (?P<devices>\(.*?\))",
        lambda match: {**(_strategy(match) or {}), "strategy": match["strategy"]},
        continuation_lines=3,
    ),
    Pattern(
        Kind.STRATEGY_DEVICE_INVISIBLE,
        ("not visible to tensorflow",),
        r"requested devices in `?tf\.distribute\.Strategy`? are not visible to TensorFlow: (?P<devices>\S+)",
        _invisible,
        continuation_lines=3,
    ),
    # without the first one there is none
    Pattern(
        Kind.GPUS_LISTED,
        ("not visible to tensorflow",),
        rf"not visible to TensorFlow: (?:\S*,)?{_LOCAL_GPU}0\b",
        fixed(count="0"),
        continuation_lines=3,
    ),
    Pattern(
        Kind.REPLICAS,
        ("number of devices:", "replicas"),
        r"(?:[Nn]umber of (?:devices|replicas(?: in sync)?)|num_replicas_in_sync|REPLICAS) ?[:=] *(?P<count>\d+)",
    ),
    # Keras' multi_gpu_model and PyTorch Lightning: more asked for than there are
    Pattern(
        Kind.GPUS_REQUESTED,
        ("with `gpus=", "you requested gpu"),
        r"(?:with `gpus=(?P<count>\d+)`|You requested (?i:gpus?): (?P<wanted>\[[\d, ]*\])).{0,300}?"
        r"(?i:this|your) machine only has: (?P<found>\[[^\]]*\])",
        _requested,
        continuation_lines=3,
    ),
    # -- what TensorFlow prints after a failed cuInit --
    Pattern(
        Kind.KERNEL_DRIVER_ABSENT,
        ("driver",),
        r"kernel driver does not appear to be running on this host(?: \((?P<host>[^)]+)\))?"
        r"|/proc/driver/nvidia/version(?:'?:? ?)(?:does not exist|[Nn]o such file)",
    ),
    Pattern(
        Kind.DRIVER_VERSION,
        ("reported version is",),
        r"libcuda reported version is: (?P<library>\d[\d.]*)|kernel reported version is: (?P<kernel>\d[\d.]*)",
    ),
    Pattern(Kind.CUDA_DIAGNOSTICS, ("cuda diagnostic information",), r"retrieving CUDA diagnostic information for host", fixed()),
    Pattern(Kind.DRIVER_VERSIONS_AGREE, ("to match dso",), r"kernel version seems to match DSO: (?P<version>[\d.]+)"),
    Pattern(
        Kind.DRIVER_MISMATCH,
        ("match dso version",),
        r"kernel version (?:(?P<kernel>[\d.]+) )?does not match DSO version(?: (?P<library>[\d.]+))?",
        continuation_lines=3,
    ),
    Pattern(Kind.DEVICES_HIDDEN, ("cuda_visible_devices",), r"env: CUDA_VISIBLE_DEVICES=\"(?P<value>[^\"]*)\""),
    Pattern(
        Kind.DEVICES_HIDDEN,
        ("this hides all gpus",),
        r"CUDA_VISIBLE_DEVICES is set to (?P<value>\S+).{0,5}this hides all GPUs",
        continuation_lines=3,
    ),
    Pattern(
        Kind.DEVICES_HIDDEN,
        ("cuda_visible_devices",),
        r"\bCUDA_VISIBLE_DEVICES(?: is| to)? ?[=:]? ?['\"]?(?P<value>-1|NoDevFiles|none|void)\b",
    ),
    Pattern(
        Kind.DEVICES_HIDDEN,
        ("cuda_visible_devices",),
        r"\bCUDA_VISIBLE_DEVICES=(?:\"\"|'')?(?:$| +(?=python|\./))",
        lambda match: {"value": ""},
    ),
    Pattern(Kind.CONTAINER_HOST, ("hostname:",), r"\bhostname: (?P<host>[0-9a-f]{12})$", _container),
    Pattern(Kind.CONTAINER_HOST, ("on this host (",), r"on this host \((?P<host>[0-9a-f]{12})\)", _container),
    Pattern(Kind.CONTAINER_HOST, ("root@",), r"^(?:\([^)]*\) ?)?\[?root@(?P<host>[0-9a-f]{12})[: ]", _container),
    # -- builds --
    Pattern(
        Kind.CPU_BUILD,
        (
            "jaxlib is not installed",
            "not compiled with cuda",
            "is not built with cuda",
            "compiled with gpu support",
            "without gpu support",
            "without cuda support",
        ),
        r"(?:CUDA|GPU)-enabled (?P<package>jaxlib) is not installed|(?P<torch>Torch) not compiled with CUDA enabled"
        r"|(?:is not|was not|isn't) (?:built|compiled) with (?:CUDA|GPU)(?: support| enabled)"
        r"|\b(?:built|compiled) without (?:CUDA|GPU) support",
    ),
    # operations that only a build with CUDA has; where it has them, the line lists their kernels
    Pattern(
        Kind.CPU_BUILD,
        ("no opkernel was registered",),
        r"No OpKernel was registered to support Op '?Cudnn\w+(?!.{0,400}device='GPU')",
        fixed(),
        continuation_lines=3,
    ),
    Pattern(
        Kind.CPU_BUILD,
        ("backend 'cuda' is not",),
        r"Backend 'cuda' is not in the list of known backends",
        fixed(package="jaxlib"),
        continuation_lines=3,
    ),
    Pattern(Kind.CPU_BUILD, ("is_built_with_cuda",), r"is_built_with_cuda\(\)\)?\W+False\b", fixed(), continuation_lines=1),
)
