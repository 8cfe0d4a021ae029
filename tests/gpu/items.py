"""The tests on a GPU machine, the most valuable first, and their expected results."""

import contextlib
import pathlib
import shutil
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpu import measures, smi
from gpu.measures import Row
from gpu.place import CPU, FAKE, GPU, Done, Place

ANYWHERE = (GPU, FAKE, CPU)
HOLDER = "import tensorflow as tf, time\ntf.constant(1.0) + 1\nprint('held', flush=True)\ntime.sleep(120)"
FIT = """
import keras, numpy as np
model = keras.Sequential([keras.Input((64,)), keras.layers.Dense({units}), keras.layers.Dense(10)])
model.compile(keras.optimizers.SGD({rate}), keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
images, labels = {scale} * np.random.rand({batch}, 64).astype("float32"), np.random.randint(0, 10, {batch})
"""
TOO_LARGE = FIT.format(units=1 << 17, rate=0.01, scale=1, batch=1 << 20) + "model.fit(images, labels, batch_size=len(images))\n"
NOT_FINITE = (
    "import keras; keras.mixed_precision.set_dtype_policy('float16') if hasattr(keras.mixed_precision, 'set_dtype_policy')"
    " else keras.mixed_precision.set_global_policy('float16')\n"
    + FIT.format(units=64, rate=1e4, scale=1e3, batch=512)
    + "model.fit(images, labels, callbacks=[keras.callbacks.TerminateOnNaN()])\n"
)
WATCHED = (
    FIT.format(units=64, rate=0.01, scale=1, batch=4096)
    + """
import gpucheck.keras, tensorflow as tf, time
def slow(image, label):
    return tf.py_function(lambda value: (time.sleep(0.01), value)[1], [image], tf.float32), label
data = tf.data.Dataset.from_tensor_slices((images, labels)).map(slow).map(lambda i, l: (tf.ensure_shape(i, (64,)), l)).batch(16)
model.fit(data, steps_per_epoch=60, callbacks=[gpucheck.keras.Watch()])
"""
)


class Case(NamedTuple):
    """A run of gpucheck on a healthy machine, or with one harmless fault that a user can create."""

    name: str
    args: tuple[str, ...] = ("--quick",)
    expected: tuple[str, ...] = ()  # one of these codes must be the first error, or the first finding if there is no error
    on: tuple[str, ...] = (GPU, FAKE)
    env: tuple[tuple[str, str], ...] = ()
    shell: str = ""
    drop: str = ""  # files of the site that are removed
    replaced_by: str = ""  # files of this machine that replace them
    cut: str = ""  # a file of the site that is truncated
    cut_bytes: int = 4096
    first: str = (
        ""  # a library that is first on the search path: of this machine, under the name that it replaces, or of the site
    )
    meanwhile: str = ""  # a program that runs in the background
    explained: str = ""  # a program whose log `gpucheck explain` must explain
    minutes: float = 0.2


CASES = (
    Case("healthy-node", ("node",)),
    Case("healthy-quick", on=ANYWHERE),
    Case("healthy", (), on=(GPU, CPU), minutes=1),
    Case("healthy-no-smoke", ("--no-smoke",), on=ANYWHERE, minutes=0.5),
    Case("hidden", expected=("devices-hidden",), env=(("CUDA_VISIBLE_DEVICES", "-1"),)),
    Case("hidden-wrong-number", expected=("devices-hidden",), env=(("CUDA_VISIBLE_DEVICES", "7"),)),
    Case("order-unknown", expected=("cuda-environment-malformed",), env=(("CUDA_DEVICE_ORDER", "FOO"),)),
    Case("cudnn-part-gone", expected=("cudnn-missing",), drop="nvidia/cudnn/lib/libcudnn_ops.so.9"),
    Case("cudnn-without-its-parts", expected=("library-path-conflict",), first="nvidia/cudnn/lib/libcudnn.so.9"),
    Case("cublas-cut", expected=("library-corrupt",), cut="nvidia/cublas/lib/libcublasLt.so.12"),
    Case("cudnn-cut", expected=("library-corrupt",), cut="nvidia/cudnn/lib/libcudnn.so.9"),
    Case(
        "cudnn-part-cut",
        (),
        ("library-corrupt", "cudnn-missing", "training-crashed"),
        on=(GPU,),
        cut="nvidia/cudnn/lib/libcudnn_cnn.so.9",
        cut_bytes=100_000,
        minutes=1,
    ),
    Case("stub-libcuda-first", expected=("cuda-stub-loaded",), on=(GPU,), first="/usr/local/cuda/lib64/stubs/libcuda.so"),
    Case("xla-flag-unknown", (), ("xla-flags-unknown",), (GPU,), (("XLA_FLAGS", "--xla_gpu_no_such_flag=1"),), minutes=0.7),
    Case(
        "compiler-gone",
        (),
        ("ptxas-missing", "libdevice-missing"),
        on=(GPU,),
        drop="nvidia/cuda_nvcc",
        replaced_by="/usr/local/cuda/bin/ptxas",
        minutes=1.5,
    ),
    Case("little-address-space", ("--no-smoke",), ("process-limit-too-low",), shell="ulimit -v 6000000"),
    Case("few-files", expected=("process-limit-too-low",), shell="ulimit -n 64"),
    Case("memory-held", (), ("gpu-memory-held-by-others",), on=(GPU,), meanwhile=HOLDER, minutes=0.7),
    Case(
        "kernel-cache-off",
        (),
        ("kernel-cache-unwritable", "kernels-jit-compiled"),
        (GPU,),
        (("CUDA_CACHE_DISABLE", "1"),),
        minutes=2,
    ),
    Case("async-allocator", (), on=(GPU,), env=(("TF_GPU_ALLOCATOR", "cuda_malloc_async"),), minutes=0.7),
    Case("out-of-memory", expected=("gpu-memory-exhausted",), on=(GPU,), explained=TOO_LARGE, minutes=0.5),
    Case("float16-not-finite", expected=("loss-not-finite",), on=(GPU, CPU), explained=NOT_FINITE, minutes=0.5),
    Case("two-logical-devices", ("--strategy", "mirrored", "--logical-devices", "2"), on=(GPU,), minutes=0.7),
)


class Item(NamedTuple):
    """A test that adds one row or several to the table."""

    name: str
    minutes: float  # approximate duration: it is skipped if less time is left
    on: tuple[str, ...]
    run: Callable[[Place], Iterator[Row]]


def items() -> list[Item]:
    """All items, in the order in which they run."""
    cases = {case.name: Item(case.name, case.minutes, case.on, lambda place, case=case: tried(place, case)) for case in CASES}
    first = [cases.pop(name) for name in ("healthy-node", "healthy-quick", "healthy")]
    return [
        Item("at-first", 0.1, (GPU, FAKE), measures.left_behind),
        *first,
        Item("nvidia-smi", 0.1, (GPU, FAKE), smi.fields),
        Item("nvidia-smi-xml", 0.1, (GPU, FAKE), smi.fields_of_xml),
        Item("ratios", 3, (GPU, CPU), measures.ratios),
        Item("load", 1, (GPU,), measures.load),
        *cases.values(),
        Item("watch", 0.5, (GPU, CPU), lambda place: measures.watched(place, WATCHED)),
        Item("container", 1, (GPU,), measures.in_container),
        Item("run", 0.2, ANYWHERE, measures.becomes_the_command),
        Item("left-behind", 0.2, (GPU, FAKE), measures.left_behind),
        Item("full", 5, (GPU,), measures.full),
        Item("bench", 4, (GPU, CPU), measures.bench),
        Item("soak", 3, (GPU,), measures.soak),
        Item("left-behind-in-the-end", 0.2, (GPU, FAKE), measures.left_behind),
    ]


def tried(place: Place, case: Case) -> Iterator[Row]:
    """Inject the fault, run gpucheck, and compare what it names."""
    if case.first.startswith("/") and not pathlib.Path(case.first).exists():
        yield Row(case.name, " | ".join(case.expected), f"skipped: there is no {case.first}", ok=None)
        return
    if case.replaced_by and pathlib.Path(case.replaced_by).exists():
        yield Row(case.name, " | ".join(case.expected), f"skipped: {case.replaced_by} replaces it", ok=None)
        return
    if (case.drop or case.cut or case.first[:1] not in "/") and place.site is None:
        yield Row(case.name, " | ".join(case.expected), "skipped: needs a folder of packages to copy (GPU_SITE)", ok=None)
        return
    with contextlib.ExitStack() as stack:
        site = None
        if case.drop or case.cut:
            site = stack.enter_context(place.copy())
            broken(site.folder, case)
        if case.meanwhile:
            stack.enter_context(place.running(case.meanwhile))
        env = place.env(dict(case.env), site)
        if case.first:
            env["LD_LIBRARY_PATH"] = f"{renamed(place, case.first)}:{env.get('LD_LIBRARY_PATH', '')}"
        if case.explained:
            log = place.program(case.explained, env)
            done = place.gpucheck(("explain", "-", "--format", "json"), text=log.out + log.err)
        else:
            done = place.gpucheck(case.args, env, site, shell=case.shell)
    yield judged(case, done)


def broken(site: pathlib.Path, case: Case) -> None:
    """Remove or shorten files of a copy."""
    if case.drop:
        path = site / case.drop
        measures.remove(path)
    if case.cut:
        path = site / case.cut
        beginning = path.read_bytes()[: case.cut_bytes]
        path.unlink()  # the copy shares the file
        path.write_bytes(beginning)


def renamed(place: Place, library: str) -> pathlib.Path:
    """A folder with a link to a library under the name that programs open, or with a copy of a library of the site."""
    folder = place.folder / f"first-{pathlib.Path(library).name}"
    folder.mkdir(exist_ok=True)
    if place.site is not None and not library.startswith("/"):
        shutil.copyfile(place.site.folder / library, folder / pathlib.Path(library).name)
        return folder
    link = folder / (pathlib.Path(library).name + ".1")
    link.unlink(missing_ok=True)
    link.symlink_to(library)
    return folder


def judged(case: Case, done: Done) -> Row:
    """Compare gpucheck's findings with the expected codes."""
    findings = done.report.get("findings", done.report.get("causes", []))
    roots = [finding for finding in findings if not finding.get("explained_by")]
    errors = [finding["code"] for finding in roots if finding.get("severity") == "error"]
    named = [*errors, *(finding["code"] for finding in roots if finding.get("severity") != "error")]
    ok = named[0] in case.expected if case.expected and named else not case.expected and not errors and bool(done.report)
    verdict = done.report.get("verdict", "no report")
    found = f"{verdict}, exit {done.code}: {', '.join(named) or 'nothing'}"
    return Row(case.name, " | ".join(case.expected) or "no error", found, ok, {"seconds": done.seconds}, done)
