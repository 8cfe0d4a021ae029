"""Containers and their schedulers: a GPU that was asked for and not given."""

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed

PATTERNS = (
    Pattern(
        Kind.CONTAINER_GPU_DENIED,
        ("nvidia-container-cli",),
        r"nvidia-container-cli: (?P<message>[\w -]*error\b(?:: [^\n]+)?|(?:command )?not found)",
        fixed(reason="hook"),
        continuation_lines=1,
    ),
    Pattern(
        Kind.CONTAINER_GPU_DENIED,
        ("select device driver", "unknown or invalid runtime", "unknown runtime specified", "no runtime for", "cdi device"),
        r"(?P<message>could not select device driver(?! *\S* with capabilities: \[(?![^\n]*gpu))[^\n|`]{0,60}"
        r"|unknown or invalid runtime name: nvidia\S*"
        r"|no runtime for \W{1,4}nvidia\W{1,4} is configured"
        r"|[Uu]nknown runtime specified nvidia\S*|(?:unresolvable|failed to inject) CDI devices? [^\n]{0,80})",
        fixed(reason="runtime"),
        continuation_lines=3,
    ),
    # the device plugin's hint, and the program that the toolkit would have brought
    Pattern(
        Kind.CONTAINER_GPU_DENIED,
        ("if this is a gpu node", '"nvidia-smi": executable file', "`nvidia-smi` not found", "'nvidia-smi' not found"),
        r"(?P<message>If this is a GPU node, did you[^\n]{0,80}"
        r"|[\"`']nvidia-smi[\"`']:? (?:executable file )?not found in \$PATH)",
        fixed(reason="not-passed"),
    ),
    Pattern(
        Kind.CONTAINER_GPU_DENIED,
        ("nvidia driver was not detected", "no nvidia gpu devices"),
        r"(?P<message>NVIDIA Driver was not detected|No NVIDIA GPU devices are present)",
        fixed(reason="not-passed"),
    ),
    # Apptainer, of --nv on any machine without a GPU
    Pattern(
        Kind.CONTAINER_GPU_DENIED, ("find any nv files",), r"(?P<message>Could not find any nv files)", fixed(reason="no-files")
    ),
    Pattern(
        Kind.CONTAINER_GPU_DENIED,
        ("insufficient nvidia.com/", "requested number of devices unavailable", "unexpectedadmissionerror"),
        r"(?P<message>Insufficient nvidia\.com/\S+|requested number of devices unavailable for nvidia\.com/\S+"
        r"|UnexpectedAdmissionError[^\n]{0,80})",
        fixed(reason="scheduler"),
    ),
    Pattern(
        Kind.CONTAINER_GPU_DENIED,
        ("nvidia_visible_devices",),
        r"(?P<message>NVIDIA_VISIBLE_DEVICES ?[=:] ?['\"]?(?:void|none)\b)",
        fixed(reason="hidden"),
    ),
)
