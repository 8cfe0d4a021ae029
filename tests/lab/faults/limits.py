"""What the shell, the batch system or the container gives too little of: address space, files, a home to write to."""

from lab.bench import NO_SMOKE, NOTHING, Fault, Trial
from lab.machines import Machine

LOW = "process-limit-too-low"
GIB_IN_KIB = 1 << 20


def ulimit(flag: str, value: int):
    """A limit of the shell."""

    def build(trial: Trial) -> None:
        trial.shell(f"ulimit -{flag} {value}")

    return build


def no_home(trial: Trial) -> None:
    """HOME leads nowhere."""
    trial.env["HOME"] = str(trial.folder / "no/such/home")


def home_unset(trial: Trial) -> None:
    """A service has no HOME."""
    del trial.env["HOME"]


A100 = {"gpu.0.compute_capability": "8.0", "gpu.0.name": "NVIDIA A100-SXM4-80GB"}  # TensorFlow 2.21 has code for it
READ_ONLY_HOME = Machine(more='mount --bind "$HOME" ".$HOME"; mount -o remount,bind,ro ".$HOME"')

FAULTS = (
    Fault("address-space-of-32-gib", LOW, build=ulimit("v", 32 * GIB_IN_KIB)),
    Fault("address-space-of-4-gib", LOW, build=ulimit("v", 4 * GIB_IN_KIB)),
    Fault("address-space-kills-the-import", LOW, level=NO_SMOKE, build=ulimit("v", GIB_IN_KIB // 2)),
    Fault("64-open-files", LOW, exit=0, build=ulimit("n", 64)),
    Fault("home-read-only", "kernel-cache-unwritable", exit=0, machine=READ_ONLY_HOME),
    Fault("home-read-only-tensorflow-asked", "kernel-cache-unwritable", exit=0, level=NO_SMOKE, machine=READ_ONLY_HOME),
    Fault("home-missing-is-no-fault", NOTHING, exit=0, build=no_home),
    Fault("home-unset-is-no-fault", NOTHING, exit=0, build=home_unset),
    Fault("home-read-only-is-no-fault-on-a-native-gpu", NOTHING, exit=0, verdict="pass", scenario=A100, machine=READ_ONLY_HOME),
    Fault("home-unset-tensorflow-asked", NOTHING, exit=0, level=NO_SMOKE, build=home_unset),
    Fault("64-open-files-tensorflow-asked", LOW, exit=0, level=NO_SMOKE, build=ulimit("n", 64)),
    Fault(
        "home-full",
        NOTHING,
        exit=0,
        level=NO_SMOKE,
        machine=Machine(more='mount -t tmpfs -o size=4k lab ".$HOME"; echo > ".$HOME/x"'),
    ),
)
