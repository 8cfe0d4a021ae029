"""GPUs as NVML describes them: lost, closed, broken, slowed down, occupied, too old or too new."""

from lab.bench import DEFAULT, Fault, Trial
from lab.machines import Machine

GIB = 1 << 30
HELD = {"gpu.0.memory_used_bytes": 139 * GIB, "gpu.0.processes": f"4242:{139 * GIB}"}


def of_8(**fields):
    """Eight GPUs, of which the fourth has these fields."""
    return {"gpus": 8, **{f"gpu.3.{name}": value for name, value in fields.items()}}


def links(**fields):
    """Eight GPUs with 18 NVLinks each on a fabric that is up; the fourth has these fields."""
    return {"gpu.*.nvlinks": 18, "gpu.*.fabric_state": 3, **of_8(**fields)}


def cold_cache(trial: Trial) -> None:
    """The folder of CUDA's kernel cache can't be made: a file lies in its place."""
    (trial.home / ".nv").write_text("")


FAULTS = (
    Fault("one-of-8-lost", "gpu-lost", scenario=of_8(lost=1)),
    Fault("the-only-gpu-lost", "gpu-lost", scenario={"gpu.0.lost": 1}),
    Fault("lost-while-asked-about-memory", "gpu-lost", scenario={"gpus": 4, "gpu.2.nvmlDeviceGetMemoryInfo_v2": 15}),
    Fault("one-of-8-needs-a-reset", "gpu-lost", scenario=of_8(nvmlDeviceGetName=16)),
    Fault("mig-without-instances", "mig-misconfigured", scenario={"gpu.0.mig_enabled": 1}),
    Fault(
        "mig-without-instances-on-one-of-8", "mig-misconfigured", exit=0, scenario=of_8(mig_enabled=1), machine=Machine(gpus=8)
    ),
    Fault("compute-mode-prohibited", "compute-mode-exclusive", scenario={"gpu.0.compute_mode": 2}),
    Fault("exclusive-and-taken", "compute-mode-exclusive", scenario={"gpu.0.compute_mode": 3, "gpu.0.processes": f"4242:{GIB}"}),
    Fault("ecc-uncorrected", "ecc-errors", scenario={"gpu.0.ecc_uncorrected": 3}),
    Fault("ecc-uncorrected-on-one-of-8", "ecc-errors", scenario=of_8(ecc_uncorrected=1)),
    Fault("row-remapping-failed", "ecc-errors", scenario={"gpu.0.remapping_failed": 1}),
    Fault(
        "row-remapping-pending",
        "ecc-errors",
        exit=0,
        scenario={"gpu.0.remapping_pending": 1, "gpu.0.remapped_rows_uncorrectable": 1},
    ),
    Fault("page-retirement-pending", "ecc-errors", scenario={"gpu.0.remapped_rows": 0, "gpu.0.retired_pages_pending": 1}),
    Fault(
        "throttled-by-heat",
        "gpu-throttled",
        exit=0,
        scenario={"gpu.0.clock_event_reasons": 0x40, "gpu.0.temperature_celsius": 91},
    ),
    Fault("throttled-by-power-brake", "gpu-throttled", exit=0, scenario=of_8(clock_event_reasons=0x80)),
    Fault(  # its fake CUDA never finishes a step
        "throttled-only-while-training",
        "gpu-throttled",
        exit=3,
        verdict="unknown",
        level=DEFAULT,
        scenario={"gpu.0.clock_event_reasons_later": 0x40, "gpu.0.sm_clock_mhz": 1200},
        args=("--timeout", "20"),
        limit_seconds=22.0,
    ),
    Fault("throttled-and-strict", "gpu-throttled", args=("--strict",), scenario={"gpu.0.clock_event_reasons": 0x40}),
    Fault("narrow-pcie-link", "pcie-link-degraded", exit=0, scenario={"gpu.0.pcie_width": 4}),
    Fault("narrow-pcie-link-on-one-of-8", "pcie-link-degraded", exit=0, scenario=of_8(pcie_width=1)),
    Fault("nvlinks-down-on-one-of-8", "nvlink-down", exit=0, scenario=links(nvlinks_down="2,5")),
    Fault("memory-held-by-another-process", "gpu-memory-held-by-others", scenario=HELD),
    Fault("memory-held-by-nobody-visible", "gpu-memory-held-by-others", scenario={"gpu.0.memory_used_bytes": 139 * GIB}),
    Fault("compute-capability-3.7", "gpu-too-old", scenario={"gpu.0.compute_capability": "3.7", "gpu.0.name": "Tesla K80"}),
    Fault(
        "compute-capability-5.2",
        "gpu-too-old",
        scenario={"gpu.0.compute_capability": "5.2", "gpu.0.name": "NVIDIA GeForce GTX 970"},
    ),
    Fault(
        "old-card-beside-a-new-one",
        "gpu-too-old",
        exit=0,
        scenario={"gpus": 2, "gpu.1.compute_capability": "5.2", "gpu.1.name": "Quadro M4000"},
    ),
    Fault(
        "compute-capability-12.0",
        "gpu-too-new",
        scenario={"gpu.0.compute_capability": "12.0", "gpu.0.name": "NVIDIA GeForce RTX 5090"},
    ),
    Fault(
        "few-multiprocessors",
        "gpu-multiprocessor-count-too-low",
        exit=0,
        scenario={"gpus": 2, "gpu.1.multiprocessors": 4, "gpu.1.name": "NVIDIA T400"},
    ),
    Fault(
        "few-multiprocessors-by-request",
        "gpu-multiprocessor-count-too-low",
        env={"TF_MIN_GPU_MULTIPROCESSOR_COUNT": "200"},
    ),
    Fault(
        "too-new-and-the-kernel-cache-off",
        "gpu-too-new",
        scenario={"gpu.0.compute_capability": "12.0"},
        env={"CUDA_CACHE_DISABLE": "1"},
        also=("kernel-cache-unwritable",),
    ),
    Fault(
        "kernel-cache-unwritable",
        "kernel-cache-unwritable",
        exit=0,
        build=cold_cache,
    ),
    # What TensorFlow itself makes of them.
    Fault("tensorflow-ignores-an-old-gpu", "gpu-too-old", level="no-smoke", scenario={"gpu.0.compute_capability": "5.2"}),
    Fault(
        "tensorflow-lists-none-of-the-lost", "gpu-lost", level="no-smoke", scenario={"gpus": 2, "gpu.*.lost": 1, "cuInit": 999}
    ),
    Fault(
        "cuinit-999-seen-by-tensorflow",
        "cuda-init-failed",
        level="no-smoke",
        scenario={"cuInit": 999},
        env={"TF_CPP_MIN_LOG_LEVEL": "3"},
    ),
)
