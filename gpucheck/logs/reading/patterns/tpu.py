"""TPUs: no TPU, a taken one, one that does not answer, and a libtpu that does not fit."""

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed

_NOT_FOUND, _BUSY, _VERSION = fixed(reason="not-found"), fixed(reason="busy"), fixed(reason="version")
_UNREACHABLE, _MISSING, _GENERATION = fixed(reason="unreachable"), fixed(reason="runtime-missing"), fixed(reason="generation")

PATTERNS = (
    # -- somebody else has it --
    Pattern(
        Kind.TPU_FAILED,
        ("tpu is already in use", "libtpu_lockfile", "multi-process lockfile", "already in use"),
        r"(?P<message>(?:TPU is|libtpu\.so(?: is)?) already in used? by[^\n]{0,60}|libtpu[^\n]{0,40}lockfile[^\n]{0,60})",
        _BUSY,
        continuation_lines=1,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("/dev/accel", "/dev/vfio"),
        r"(?P<message>/dev/(?:accel|vfio/)\d+\b[^\n]{0,40}?(?:[Dd]evice or resource busy|already in use))",
        _BUSY,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("device or resource busy", "couldn't open device"),
        r"(?P<message>(?:[Dd]evice or resource busy|[Cc]ouldn't open)[^\n]{0,40}/dev/(?:accel|vfio/)\d+)",
        _BUSY,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("backend 'tpu'", "tpu initialization failed"),
        r"(?:backend 'tpu'|TPU initialization failed)(?P<message>[^\n]{0,80}?(?:[Dd]evice or resource busy|already in use))",
        _BUSY,
        continuation_lines=1,
    ),
    # -- versions that do not fit --
    Pattern(
        Kind.TPU_FAILED,
        ("pjrt", "not available in this library"),
        r"(?P<message>Unexpected PJRT_\w+ size: expected \d+, got \d+|\b\w{1,80} not available in this library"
        r"|PJRT[^\n]{0,60}API version[^\n]{0,60}(?:mismatch|incompatible|not compatible|older"
        r"|newer)[^\n]{0,60}|framework PJRT API version)",
        _VERSION,
        continuation_lines=1,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("libtpu", "tpu driver"),
        r"(?P<message>(?i:libtpu|TPU driver)[^\n]{0,80}?(?i:version mismatch|incompatible with|not compatible"
        r"|too old|undefined symbol"
        r"|must (?:match|be at least))[^\n]{0,60})",
        _VERSION,
        continuation_lines=1,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("registered in binary running on n-",),
        r"(?P<message>'__inference_\w+' is neither a type of a primitive operation[^\n]{0,80}binary running on n-)",
        _VERSION,
    ),
    Pattern(Kind.TPU_FAILED, ("module 'libtpu'",), r"(?P<message>module 'libtpu' has no attribute '\w+')", _VERSION),
    # -- no runtime --
    Pattern(
        Kind.TPU_FAILED,
        ("tpu-enabled jaxlib", "libtpu.so", "libtpu not found", "install libtpu"),
        r"(?P<message>TPU-enabled jaxlib or libtpu is not installed)"
        r"|^(?!.*Unable to initialize backend)(?:[\w.]+Error: )?[^\n]{0,60}?(?P<second>(?:(?:[Ff]ailed to (?:open"
        r"|load)|[Cc]ould not (?:open|load|find)|[Cc]annot find)"
        r" \S*libtpu\S*|\blibtpu(?:\.so)? (?:was |is )?not (?:found|installed)))",
        lambda match: {"reason": "runtime-missing", "message": match["message"] or match["second"]},
    ),
    Pattern(Kind.TPU_FAILED, ("no module named",), r"(?P<message>No module named '?libtpu'?)", _MISSING),
    # -- no TPU --
    Pattern(
        Kind.TPU_FAILED,
        (
            *("tpu name to connect", "colab_tpu_addr", "tpu system", "tpu cores", "no tpu", "tpu devices", "tpu platform"),
            *("tpu not found", "no accelerator found"),
        ),
        r"(?P<message>provide a TPU Name to connect to|KeyError: '?COLAB_TPU_ADDR|(?:Failed|Unable) to (?:find"
        r"|locate|detect) (?:a |any |the )?TPU\b[^\n]{0,60}"
        r"|[Cc]annot find any TPU cores|TPU system (?:not found|is not available)|No TPU (?:devices?|cores?"
        r"|chips?|hardware|system)?\s?(?:were |was )?"
        r"(?:found|available|detected)|[Nn]o TPUs? found|No TPU Platform available"
        r"|(?<!Coral )\bTPU not found|No accelerator found\.?(?=[^\n]{0,40}\bTPU\b))",
        _NOT_FOUND,
        continuation_lines=3,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("tpu.googleapis.com",),
        r"(?P<message>(?:HTTP|HttpError|Error|status)\W{0,3}40[34]\b[^\n]{0,40}tpu\.googleapis\.com[^\n]{0,80})",
        _NOT_FOUND,
        continuation_lines=3,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("configuredistributedtpu",),
        r"(?P<message>(?:No OpKernel was registered|Op type not registered|not found)[^\n]{0,40}ConfigureDistributedTPU"
        r"|ConfigureDistributedTPU'? is neither a type of a primitive operation)",
        _NOT_FOUND,
        continuation_lines=3,
    ),
    Pattern(
        Kind.TPU_FAILED,
        ("error: unable to initialize backend 'tpu'",),
        r"Error: Unable to initialize backend 'tpu': (?P<message>(?:UNKNOWN|NOT_FOUND|UNAVAILABLE"
        r"|INVALID_ARGUMENT|INTERNAL|FAILED_PRECONDITION|UNIMPLEMENTED)[^\n]*)",
        lambda match: {"message": match["message"], "reason": "runtime-missing" if "libtpu" in match["message"] else "not-found"},
    ),
    # -- no answer --
    Pattern(
        Kind.TPU_FAILED,
        (":8470", ":8431", ":8471", ":8476", "remote target", "tpu worker may not be ready", "slicebuilder"),
        r"(?P<message>(?:[Ff]ailed to connect|[Cc]onnection refused|[Tt]imed out|DEADLINE_EXCEEDED|[Dd]eadline [Ee]xceeded"
        r"|UNAVAILABLE)[^\n]{0,200}:84[37]\d"
        r"|:84[37]\d\b[^\n]{0,120}(?:[Ff]ailed to connect|[Cc]onnection refused|[Tt]imed out|DEADLINE_EXCEEDED|UNAVAILABLE)"
        r"|from peer \S{0,20}:84[37]\d\b[^\n]{0,300}(?:Socket closed|Connection reset by peer|Endpoint read failed)"
        r"|from remote target[^\n]{0,300}:84[37]\d\b"
        r"|TPU worker may not be ready|[Ff]ailed to establish SliceBuilder[^\n]{0,60}"
        r"|SliceBuilder[^\n]{0,60}(?:timed out|DEADLINE_EXCEEDED))",
        _UNREACHABLE,
        continuation_lines=3,
    ),
    Pattern(
        Kind.TPU_FAILED,
        (
            "tpu metadata",
            "tpu-env",
            "tpu backend initialization is taking",
            "tpu initialization failed",
            "initialize tpu system",
            "tpu node",
            "unhealthy",
        ),
        r"(?P<message>[Ff]ailed to get TPU metadata[^\n]{0,60}|TPU backend initialization is taking more than [\d.]+ seconds"
        r"|TPU initialization failed: [^\n]{0,100}"
        r"|[Ff]ailed to initialize TPU system with error: [^\n]{0,100}"
        r"|(?:TPU|tpu)\b[^\n]{0,60}?(?:UNHEALTHY|PREEMPTED|is unhealthy|was preempted)[^\n]{0,40})",
        _UNREACHABLE,
        continuation_lines=3,
    ),
    # -- whose work it is: context --
    Pattern(
        Kind.USES_TPU,
        (
            *("initializing the tpu system", "init tpu system", "tpuclusterresolver(", "initialize_tpu_system(", "device:tpu:"),
            *("feed thread controller", "tpu_strategy.py", "tpu_estimator.py", ":8470"),
        ),
        r"\bInitializing the TPU system\b|\bInit TPU system\b|\b(?:in|out)feed thread controller\b|\bTPUClusterResolver\("
        r"|\binitialize_tpu_system\(|/device:TPU:\d|\btpu_(?:strategy|estimator)\.py\b|(?:ipv[46]:|grpc://)\S+:8470\b",
        fixed(),
    ),
    # somebody's own words for it
    Pattern(
        Kind.USES_TPU,
        ("tpu v", *(f"{whose} tpu" for whose in ("free", "colab", "kaggle", "my", "our"))),
        r"\bTPU [vV][2-6][ep]?(?:-\d+)?\b|\b(?i:free|colab|kaggle|my|our) TPUs?\b",
        fixed(),
    ),
    # -- the wrong kind --
    Pattern(
        Kind.TPU_FAILED,
        ("tpu7x", "tpu v7", "ironwood", "accelerator type", "tpu generation", "tpu version", "tpu type"),
        r"(?P<message>(?i:(?:TPU ?v?7x?|Ironwood)\b[^\n]{0,80}(?:not|un)[ -]?supported|(?:unsupported|unknown"
        r"|unrecognized|invalid) "
        r"(?:TPU )?(?:generation|version|type|accelerator[ -]?type)\b[^\n]{0,60}"
        r"|TensorFlow[^\n]{0,40}not supported[^\n]{0,30}TPU ?7x?)[^\n]{0,60})",
        _GENERATION,
    ),
)
