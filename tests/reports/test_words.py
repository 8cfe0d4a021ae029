"""Values in words."""

import re

import pytest
from reports.builders import PASSED, report

from gpucheck.model import Evidence, Request
from gpucheck.probes.packages import Distribution
from gpucheck.reports import html, junit, markdown, nagios, prometheus, terminal
from gpucheck.reports.shared.evidence import evidence

MADE = report("h200")


def test_one_run_has_one_name_in_every_format():
    """Two workers with a device each, and eight logical devices."""
    two = {**PASSED, "strategy": "multi_worker_mirrored", "devices": ["CPU:0"] * 2, "replicas": 2, "workers": 2}
    eight = {**PASSED, "strategy": "mirrored", "devices": [f"CPU:{number}" for number in range(8)], "replicas": 8}
    late = {"status": "timed_out", "reason": "late"}
    made = report("laptop-cpu", [("training.runs", [two, eight, {**two, **late}])], request=Request(allow_cpu=True))
    look = {"width": 120, "color": False, "ascii": False, "verbose": True}
    texts = {
        "terminal": terminal.render(made, **look),
        "markdown": markdown.render(made, facts=False),
        "html": html.render(made).partition('id="facts"')[0],
        "prometheus": prometheus.render(made),
        "nagios": nagios.render(made),
        "junit": junit.render(made),
        "reasons": " ".join(made.unknown_because),
    }
    for name, text in texts.items():
        assert ("2 x CPU:0" if name == "prometheus" else "2 × CPU:0") in text, name
        assert "CPU:0-7" in text or name == "reasons"
        assert not re.search(r"CPU:0, ?(?:CPU:)?0|CPU:0\.\.\.|CPU:0 to", text), name
    assert "'multi_worker_mirrored 2 x CPU:0 float32 samples_per_second'" in texts["nagios"]


@pytest.mark.parametrize(
    ("fact", "field", "value", "text"),
    [
        ("driver", "version", "580.159.04", "driver version: 580.159.04"),
        ("driver", "problem", None, "driver problem: unknown"),
        ("driver", "gpu_count", 1, "driver GPU count: 1"),
        ("gpus", "gpus[0].memory_total_bytes", 150754820096, "GPU 0 memory total: 140 GiB"),
        ("gpus", "gpus[0].power_watts", 80.4, "GPU 0 power: 80.4 W"),
        ("gpus", "gpus[0].ecc_enabled", True, "GPU 0 ECC enabled: yes"),
        ("gpus", "gpus[0].clock_event_reasons", 64, "GPU 0 clock event reasons: 0x40"),
        ("gpus", "gpus[0].compute_capability", [9, 0], "GPU 0 compute capability: 9.0"),
        ("cuda", "devices[0].name", "NVIDIA H200", "CUDA device 0 name: NVIDIA H200"),
        ("pci", "gpus", [], "PCI GPUs: none"),
        ("pci", "gpus[0].kernel_driver", "vfio-pci", "PCI 0000:00:06.0 kernel driver: vfio-pci"),
        ("libraries", "libraries[4].path", None, "libcusolver.so.11 path: not found by the loader"),
        ("libraries", "cudnn_parts_missing", list("abcdefgh"), "libraries cuDNN parts missing: a, b, c, d, e, f, … (8 in all)"),
        ("packages", "and_cuda[0].installed", None, "nvidia-cublas-cu12 installed: not installed"),
        ("packages", "flavours", [Distribution(name="tf", version="1", folder="/x")], "packages flavours: tf"),
        ("environment", "variables.CUDA_VISIBLE_DEVICES", "", 'CUDA_VISIBLE_DEVICES=""'),
        ("environment", "variables.NVIDIA_VISIBLE_DEVICES", "0", 'NVIDIA_VISIBLE_DEVICES="0"'),
        ("training", "runs[0].first_step_seconds", 4.44, "one_device on GPU:0 (float32) first step: 4.44 s"),
        ("limits", "shared_memory_total_bytes", 67108864, "limits shared memory total: 64 MiB"),
        ("wherever", "x[7].y", 3, "wherever x 7 y: 3"),
        ("driver", "problem", "y" * 300, f"driver problem: {'y' * 159}…"),
    ],
)
def test_evidence(fact, field, value, text):
    assert evidence(Evidence(fact=fact, field=field, value=value), MADE) == text


def test_evidence_leaves_out_site_packages_unless_verbose():
    folder = MADE.facts["packages"].tensorflow.folder
    item = Evidence(fact="libraries", field="loader", value=f"{folder}/tensorflow/x.so")
    assert evidence(item, MADE) == "libraries loader: …/tensorflow/x.so"
    assert evidence(item, MADE, verbose=True) == f"libraries loader: {folder}/tensorflow/x.so"
