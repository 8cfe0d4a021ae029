"""Measure the cost of the input pipeline, compared with one resident batch, and the gain of each optimization.

The optimizations are tested on a pipeline that keeps the host busy: generated samples are stored as JPEGs, decoded, resized,
cropped and flipped. Each is added to the previous ones: ``prefetch``, parallel ``map``, ``cache`` after decoding, doubled batch.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from functools import partial
from typing import Any

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.training.experiments._measure import build_strategy, measurements, step_seconds
from gpucheck.core.training.smoke import network
from gpucheck.core.training.smoke.tensorflow import fresh
from gpucheck.core.training.smoke.throughput import Trainer, input_wait_share, trainer

STORED_PIXELS = 96  # side of a stored sample: decoding and augmenting it takes some tenths of a millisecond
RESIZED_PIXELS, PIXELS = 40, 32  # sides before and after the random crop


def run(setting: Setting) -> ExperimentResult:
    """Measure on the first accelerator, or on the CPU if there is none."""
    tf, devices = setting.tf, setting.devices()
    trained = setting.passed("one_device")
    if trained is None or trained.devices[0] not in devices:
        raise NotHere("no accelerator has trained alone in float32")
    device = trained.devices[0]
    batch = network.batch_size(device)
    fresh(setting.keras, "float32")
    job = trainer(tf, setting.keras, build_strategy(setting, [device]))
    data = network.dataset(tf, batch)
    resident, piped = _resident_and_piped(job, data)
    drawn = step_seconds(partial(_draw, job.source(data)))
    share = input_wait_share(piped, resident, drawn)
    rates = {"device": resident, "piped": piped, "smoke_pipeline": drawn}
    figures: dict[str, float | None] = {"batch_size": batch}
    figures.update({f"{name}_samples_per_second": round(batch / seconds, 1) for name, seconds in rates.items()})
    figures["input_wait_share"] = round(share, 4)
    figures["other_slowdown_share"] = round((piped - resident) / piped - share, 4)
    trained.input_wait_share = figures["input_wait_share"]
    trained.piped_samples_per_second = figures["piped_samples_per_second"]
    trained.device_samples_per_second = figures["device_samples_per_second"]
    pipelines = optimization_steps(tf, batch, network.arrays(network.BATCHES * batch))
    for name, data in pipelines.items():
        if name == "plain":
            figures["jpeg_decode_and_augment_seconds_per_sample"] = round(step_seconds(partial(_draw, iter(data))) / batch, 7)
        samples = batch
        if name == "larger_batch":
            samples = figures["jpeg_larger_batch_size"] = 2 * batch
        # The iterator is the dataset's own: a strategy's would prefetch to the device. The warm-up fills the cache.
        timed = partial(job.piped, iter(data))
        figures[f"jpeg_{name}_samples_per_second"] = round(samples / step_seconds(timed, network.BATCHES), 1)
    return ExperimentResult((device,), figures, run=trained)


def _resident_and_piped(job: Trainer, data: Any) -> tuple[float, float]:
    """Return the seconds of a step on one batch that stays on the device, and on the pipeline.

    Resident steps are measured before and after the piped ones, so that a change of clock or load affects both. The piped steps
    use a new source, which has not prefetched batches.
    """
    source = job.source(data)
    batch = job.keep(next(source))
    job.piped(source, 1)  # traces
    del source  # otherwise it continues to prepare batches
    job.resident(batch, 2)
    repeats, steps = measurements(job.resident(batch, 1))
    resident = [job.resident(batch, steps) / steps for _ in range(repeats)]
    piped = step_seconds(partial(job.piped, job.source(data)))
    resident += [job.resident(batch, steps) / steps for _ in range(repeats)]
    return statistics.median(resident), piped


def _draw(source: Any, batches: int) -> float:
    """Return the seconds that a pipeline takes to produce some batches, without training."""
    began = time.perf_counter()
    for _ in range(batches):
        next(source)
    return time.perf_counter() - began


def optimization_steps(tf: Any, batch: int, samples: tuple[Any, Any]) -> dict[str, Any]:
    """Return endless pipelines over the same samples, by the name of the last optimization in each.

    tf.data's automatic parallel ``map`` and prefetch are disabled, so that each figure measures only the named optimization.

    Args:
        tf: TensorFlow.
        batch: samples per batch.
        samples: images (n, 32, 32, 3) around 0, and classes (n,).
    """
    stored = _stored(tf, *samples)
    plain = _pipeline(tf, stored, batch)
    parallel = _pipeline(tf, stored, batch, tf.data.AUTOTUNE)
    cached = _pipeline(tf, stored, batch, tf.data.AUTOTUNE, cached=True)
    larger = _pipeline(tf, stored, 2 * batch, tf.data.AUTOTUNE, cached=True)
    ahead = {"prefetch": plain, "parallel_map": parallel, "cache": cached, "larger_batch": larger}
    pipelines = {"plain": plain, **{name: data.prefetch(tf.data.AUTOTUNE) for name, data in ahead.items()}}
    return {name: data.with_options(_without_optimizations(tf)) for name, data in pipelines.items()}


def _stored(tf: Any, images: Any, labels: Any) -> Any:
    """Return a dataset of JPEGs and classes."""
    import numpy as np

    pixels = np.clip(images * 40 + 128, 0, 255).astype("uint8")
    larger = STORED_PIXELS // PIXELS
    jpegs = [tf.io.encode_jpeg(image.repeat(larger, axis=0).repeat(larger, axis=1)).numpy() for image in pixels]
    return tf.data.Dataset.from_tensor_slices((jpegs, labels))


def _pipeline(tf: Any, stored: Any, batch: int, parallel: int | None = None, cached: bool = False) -> Any:
    """Decode, optionally cache, augment, and batch; the batch size is not traced, so that one trace serves all pipelines."""

    def decode(jpeg: Any, label: Any) -> tuple[Any, Any]:
        image = tf.io.decode_jpeg(jpeg, channels=3)
        return tf.image.resize(image, (RESIZED_PIXELS, RESIZED_PIXELS)), label

    def augment(image: Any, label: Any) -> tuple[Any, Any]:
        image = tf.image.random_flip_left_right(tf.image.random_crop(image, (PIXELS, PIXELS, 3)))
        return tf.image.random_brightness(image, 20.0) / 127.5 - 1.0, label

    data = stored.map(decode, num_parallel_calls=parallel)
    data = data.cache() if cached else data
    return data.repeat().map(augment, num_parallel_calls=parallel).batch(batch)


def _without_optimizations(tf: Any) -> Any:
    """Return options that disable tf.data's automatic optimizations."""
    options = tf.data.Options()
    for name in ("apply_default_optimizations", "map_parallelization", "map_and_batch_fusion", "inject_prefetch"):
        with contextlib.suppress(AttributeError):  # older TensorFlow releases lack some of them
            setattr(options.experimental_optimization, name, False)
    return options
