"""The fields of a node's report that a fleet reads; the others are skipped during decoding, which is several times faster."""

import msgspec


class System(msgspec.Struct):
    """The operating system."""

    node: str | None = None
    os_name: str | None = None
    kernel: str | None = None


class Version(msgspec.Struct):
    """The version of any component."""

    version: str | None = None


class Driver(msgspec.Struct):
    """The NVIDIA driver."""

    version: str | None = None
    cuda_version: str | None = None


class Gpu(msgspec.Struct):
    """One GPU."""

    name: str | None = None
    uuid: str | None = None


class Gpus(msgspec.Struct):
    """The GPUs that NVML lists."""

    gpus: list[Gpu] = []


class Packages(msgspec.Struct):
    """The installed packages."""

    tensorflow: Version | None = None
    keras: Version | None = None


class Libraries(msgspec.Struct):
    """The CUDA libraries that TensorFlow opens."""

    libraries: list[Version] = []


class Environment(msgspec.Struct):
    """The environment variables that affect GPUs."""

    variables: dict[str, str] = {}


class DeviceChecksums(msgspec.Struct):
    """Checksums of the results of a device."""

    device: str
    model: str | None = None
    checksums: dict[str, str] = {}


class Checksums(msgspec.Struct):
    """The checksums of all devices."""

    devices: list[DeviceChecksums] = []


class Training(msgspec.Struct):
    """The training of a node."""

    checksums: Checksums | None = None


class Facts(msgspec.Struct):
    """The facts that name a node and its configuration."""

    system: System | None = None
    driver: Driver | None = None
    gpus: Gpus | None = None
    packages: Packages | None = None
    interpreter: Version | None = None
    libraries: Libraries | None = None
    environment: Environment | None = None
    training: Training | None = None


class Run(msgspec.Struct):
    """One training job."""

    strategy: str
    status: str
    precision: str = ""
    compiled: bool = False
    devices: list[str] = []
    trained_with: int = 0
    samples_per_second: float | None = None
    first_step_seconds: float | None = None


class Fix(msgspec.Struct):
    """One repair."""

    command: str | None = None
    kind: str | None = None


class Finding(msgspec.Struct):
    """One finding."""

    code: str
    severity: str
    scope: str
    summary: str
    fix: list[Fix] = []
    action: str | None = None
    explained_by: str | None = None
    muted: str | None = None


class Report(msgspec.Struct):
    """The part of a report that a fleet reads."""

    schema_version: str
    tool: dict[str, str]
    started_at: str
    verdict: str
    findings: list[Finding]
    facts: Facts
    exit_code: int = 0
    unknown_because: list[str] = []
    training: list[Run] = []
