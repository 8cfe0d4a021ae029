"""A fake NVIDIA driver: libnvidia-ml.so.1 and libcuda.so.1 compiled from tests/lab/driver, and stubs of the CUDA libraries.

``build`` compiles the driver, ``write_scenario`` defines its behavior, and ``environment`` makes a child process find both. With ``names``
from ``tensorflow_symbols`` it also answers, with 0, whatever else TensorFlow looks up, and ``build_cuda_libraries`` puts
stubs of TensorFlow's seven CUDA libraries where pip would put the real ones: TensorFlow then lists the GPUs. None of it
computes anything.

Keys of a scenario (C functions and what may be done to them: tests/lab/driver/scenario.h):

machine   gpus (1 to 16), fabric_version (newest structure that it fills: 3), driver_version, nvml_version, cuda_version (13000)
GPU       lost, name, uuid, pci_address, minor, compute_capability ("9.0"), multiprocessors, peer_access, memory_total_bytes,
          memory_reserved_bytes, memory_used_bytes, ecc_enabled, ecc_uncorrected, ecc_uncorrected_aggregate, remapped_rows
          (0: not supported), remapped_rows_uncorrectable, remapping_pending, remapping_failed, retired_pages_pending,
          temperature_celsius, temperature_slowdown_celsius, power_milliwatts, power_limit_milliwatts,
          power_default_limit_milliwatts, clock_event_reasons (and clock_event_reasons_later: from the fourth time that a process asks),
          sm_clock_mhz, sm_clock_max_mhz, utilization_percent,
          pcie_generation, pcie_generation_max, pcie_width, pcie_width_max, persistence_mode, compute_mode (0 to 3),
          mig_enabled, mig_devices, nvlinks, nvlinks_down ("3,7"), nvlinks_unsupported, fabric_state, fabric_status, fabric_health,
          fabric_clique, fabric_cluster (each byte), recovery_action (absent: not known to this driver), processes ("4242:1073741824")
"""

import mmap
import pathlib
import re
import shutil
import struct
import subprocess
from collections.abc import Iterable, Mapping

SOURCES = pathlib.Path(__file__).parent / "driver"
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

DRIVER = {"nvml": ("libnvidia-ml.so.1", r"nvml[A-Z]\w*"), "cuda": ("libcuda.so.1", r"cu[A-Z]\w*")}

# Where each wheel puts its libraries, and which functions each library defines. "cudart" also serves the code that a CUDA
# program runs before main.
CUDA_LIBRARIES = {
    "cuda_runtime/lib/libcudart.so.12": r"(__)?cuda[A-Z]\w*",
    "cublas/lib/libcublas.so.12": r"cublas(?!Lt)\w*",
    "cublas/lib/libcublasLt.so.12": r"cublasLt\w*",
    "cufft/lib/libcufft.so.11": r"cufft\w*",
    "cusolver/lib/libcusolver.so.11": r"cusolver\w*",
    "cusparse/lib/libcusparse.so.12": r"cusparse\w*",
    "cudnn/lib/libcudnn.so.9": r"cudnn\w*",
}


def build(folder: pathlib.Path, names: Iterable[str] = ()) -> pathlib.Path:
    """Compile the fake driver into a folder; ``names``: additional functions, which return 0."""
    folder.mkdir(parents=True, exist_ok=True)
    names = list(names)
    for source, (soname, pattern) in DRIVER.items():
        compile_library(folder / soname, zeros(names, pattern), SOURCES / f"{source}.c")
    return folder


def build_cuda_libraries(site: pathlib.Path, names: Iterable[str]) -> list[pathlib.Path]:
    """Stubs of TensorFlow's seven CUDA libraries under ``site``/nvidia, as pip lays them out; returns their folders."""
    names = list(names)
    for path, pattern in CUDA_LIBRARIES.items():
        library = site / "nvidia" / path
        library.parent.mkdir(parents=True, exist_ok=True)
        compile_library(library, zeros(names, pattern))
    return sorted({(site / "nvidia" / path).parent for path in CUDA_LIBRARIES})


def write_scenario(path: pathlib.Path, lines: Mapping[str, object]) -> pathlib.Path:
    """Write a scenario file; bytes that are not valid text are written as \\xHH."""
    path.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    return path


def environment(driver: pathlib.Path, scenario: pathlib.Path, *more: pathlib.Path) -> dict[str, str]:
    """A bare environment in which the fake driver, and libraries in further folders, are found."""
    return {
        "PATH": "/nonexistent",
        "LD_LIBRARY_PATH": ":".join(str(folder) for folder in (driver, *more)),
        "FAKE_DRIVER": str(scenario),
    }


def zeros(names: Iterable[str], pattern: str) -> str:
    """C text of functions that return 0; weak, so that a real definition elsewhere in the library takes precedence."""
    wanted = re.compile(pattern)
    body = "\n".join(f"__attribute__((weak)) void *{name}(void) {{ return 0; }}" for name in names if wanted.fullmatch(name))
    return f"int fake_driver;\n{body}\n"


def tensorflow_symbols(framework: pathlib.Path) -> list[str]:
    """Every CUDA function that libtensorflow_framework.so.2 forwards: it exports a trampoline of the same name for each."""
    return sorted(name for name in _dynamic_names(framework) if re.match(r"(__)?(cu[a-zA-Z]|nvml)\w+$", name))


def _dynamic_names(library: pathlib.Path) -> set[str]:
    """All names in the string tables of an ELF file's dynamic symbols (64 bit, little endian)."""
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count = struct.unpack_from("<HH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + number * size) for number in range(count)]
        blobs = [sections[link] for (_, kind, _, _, _, _, link, *_) in sections if kind == 11]  # SHT_DYNSYM
        return {
            name.decode("ascii", "replace")
            for (_, _, _, _, offset, length, *_) in blobs
            for name in data[offset : offset + length].split(b"\0")
        }


def compile_library(library: pathlib.Path, text: str, *sources: pathlib.Path | str) -> None:
    """Compile C text, and further sources or options, to a shared library whose soname is its file's name."""
    extra = library.with_name(library.name + ".c")
    extra.write_text(text)
    subprocess.run(
        [
            *(str(COMPILER), "-shared", "-fPIC", "-O1", "-w", "-Wl,-Bsymbolic", f"-Wl,-soname,{library.name}"),
            *("-I", str(SOURCES), "-o", str(library), *map(str, sources), str(extra), "-ldl"),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )


def compile_versioned(library: pathlib.Path, text: str) -> None:
    """Compile C text to a shared library whose symbols have its name as their version, as in nvJitLink."""
    versions = library.with_name(library.name + ".versions")
    library.parent.mkdir(parents=True, exist_ok=True)
    versions.write_text(f"{library.name} {{ global: *; }};\n")
    compile_library(library, text, f"-Wl,--version-script={versions}")
