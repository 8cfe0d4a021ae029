"""Healthy controls: machines on which nothing is wrong, however odd they look. They guard against crying wolf."""

from lab.bench import NO_SMOKE, NOTHING, Fault
from lab.machines import NODES, Machine


def gpus(count: int, **fields: object) -> dict[str, object]:
    """So many GPUs with these fields each."""
    return {"gpus": count, **{f"gpu.*.{name}": value for name, value in fields.items()}}


def healthy(name: str, scenario: dict[str, object] | None = None, **more) -> Fault:
    return Fault(f"healthy-{name}", NOTHING, exit=0, scenario=scenario or {}, **more)


FAULTS = (
    *(healthy(f"{count}-gpu{'s' if count > 1 else ''}", gpus(count)) for count in (1, 2, 4, 8, 16)),
    healthy("h200-on-its-own-machine", machine=Machine(), verdict="pass"),
    healthy(
        "hgx",
        gpus(8, nvlinks=18, fabric_state=3),
        machine=Machine(gpus=8, nvswitches=4, nodes=(*NODES, *(f"nvidia{n}" for n in range(1, 8)))),
        verdict="pass",
    ),
    healthy("container-with-a-gpu", machine=Machine(container=True)),
    healthy("slow-driver", {"nvmlInit_v2": "slow:2", "cuInit": "slow:2.5"}),
    healthy("slow-answers-of-8-gpus", {"gpus": 8, "gpu.*.nvmlDeviceGetMemoryInfo_v2": "slow:0.1"}),
    healthy("garbage-names", gpus(2, name=r"\xff\xfe\x1b[31mGPU\x00\xc3\x28")),
    healthy("garbage-version", {"driver_version": r"\xff\xff", "nvml_version": r"\xc3\x28"}),
    healthy("name-of-200-letters", gpus(1, name="X" * 90)),
    healthy(
        "card-that-supports-little",
        gpus(
            1,
            ecc_enabled="unsupported",
            remapped_rows=0,
            power_milliwatts="unsupported",
            power_limit_milliwatts="unsupported",
            temperature_celsius="unsupported",
            clock_event_reasons="unsupported",
            pcie_width="unsupported",
            utilization_percent="unsupported",
            compute_mode="unsupported",
        ),
    ),
    healthy("mig-with-instances", gpus(1, mig_enabled=1, mig_devices=2)),
    healthy("exclusive-and-free", gpus(1, compute_mode=3)),
    healthy(
        "corrected-errors",
        {"gpu.0.ecc_corrected": 4000, "gpu.0.ecc_corrected_aggregate": 9000, "gpu.0.ecc_uncorrected_aggregate": 2},
    ),
    healthy("idle-at-low-clocks", gpus(4, clock_event_reasons=1, pcie_generation=1, sm_clock_mhz=210)),
    healthy("at-its-power-cap", gpus(1, clock_event_reasons=4, utilization_percent=100, power_milliwatts=699000)),
    healthy("bridged-pair", gpus(2, nvlinks=4, nvlinks_down="2,3")),
    healthy("compute-capability-6.0", gpus(1, compute_capability="6.0", name="Tesla P100-PCIE-16GB")),
    healthy("compute-capability-7.5", gpus(1, compute_capability="7.5", name="Tesla T4")),
    healthy("compute-capability-8.6", gpus(1, compute_capability="8.6", name="NVIDIA RTX A6000")),
    healthy("driver-525", {"driver_version": "525.60.13", "cuda_version": 12000}),
    healthy("small-memory-use-of-a-desktop", {"gpu.0.memory_used_bytes": 600 << 20, "gpu.0.processes": "1:unsupported"}),
    healthy("one-of-four-chosen", {"gpus": 4}, env={"CUDA_VISIBLE_DEVICES": "2"}),
    healthy("chosen-by-uuid", {"gpus": 4}, env={"CUDA_VISIBLE_DEVICES": "GPU-00000000-0000-0000-0000-000000000003"}),
    healthy("pci-order", env={"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
    healthy("growth-by-environment", env={"TF_FORCE_GPU_ALLOW_GROWTH": "true"}),
    healthy("log-silenced", env={"TF_CPP_MIN_LOG_LEVEL": "3", "AUTOGRAPH_VERBOSITY": "0"}),
    healthy("hip-variables-set", env={"HIP_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": "0"}),
    healthy("hidden-on-purpose", env={"CUDA_VISIBLE_DEVICES": "-1"}, args=("--allow-cpu",)),
    healthy("path-with-empty-entries", env={"LD_PRELOAD": "", "PATH": "/usr/bin::/bin"}),
    healthy("tensorflow-lists-the-gpu", level=NO_SMOKE),
    healthy("tensorflow-lists-8-gpus", gpus(8), level=NO_SMOKE),
    healthy("tensorflow-log-silenced", level=NO_SMOKE, env={"TF_CPP_MIN_LOG_LEVEL": "3"}),
    healthy("tensorflow-on-its-own-machine", level=NO_SMOKE, machine=Machine()),
)
