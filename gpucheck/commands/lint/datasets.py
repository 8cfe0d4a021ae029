"""Helpers for rules about tf.data pipelines: the chain of calls that made a dataset."""

import re
from typing import NamedTuple

from gpucheck.commands.lint.lookup import is_call, options
from gpucheck.commands.lint.values import Call, Element, Name, Value, used_by

SOURCES = re.compile(
    r"tensorflow\.data\.(Dataset\.\w+|\w+Dataset|experimental\.\w+)|tensorflow_datasets\.load|keras\.(utils|preprocessing)\.\w+_dataset_from_directory"
)
# Dataset methods that return a dataset with the properties of their receiver.
STEPS = re.compile(
    r"as_numpy_iterator|batch|bucket_by_sequence_length|cache|concatenate|enumerate|filter|flat_map|group_by_window|ignore_errors"
    r"|interleave|map|padded_batch|prefetch|ragged_batch|rebatch|repeat|scan|shard|shuffle|skip|sparse_batch|take|take_while|unbatch"
    r"|unique|window|with_options"
)
READS = re.compile(
    r"tensorflow\.(io\.read_file|(io|image)\.decode_(image|jpeg|png|bmp|gif|and_crop_jpeg)|audio\.decode_wav)"
    r"|cv2\.imread|PIL\.Image\.open|numpy\.load"
)
BATCHES = frozenset(("batch", "padded_batch", "ragged_batch"))
CHAINS_MAX = 16
STEPS_MAX = 40


class Chain(NamedTuple):
    """One possible construction of a dataset: the source, then the steps."""

    source: Call
    steps: tuple[Call, ...]

    def has(self, *methods: str) -> bool:
        """Whether the chain contains any of these steps."""
        return any(step.method in methods for step in self.steps)

    @property
    def batch(self) -> Call | None:
        """Return the last step that batches."""
        return next((step for step in reversed(self.steps) if step.method in BATCHES), None)


def chains(value: Value | None, later: tuple[Call, ...] = ()) -> list[Chain]:
    """Return every possible construction of a dataset; empty if any of them is partly unknown.

    ``later`` are the steps that follow.
    """
    chains_so_far: list[Chain] = []
    for option in options(value):
        made = option.of if isinstance(option, Element) and is_call(option.of, "tensorflow_datasets.load") else option
        if not isinstance(made, Call) or len(later) > STEPS_MAX or len(chains_so_far) > CHAINS_MAX:
            return []
        if SOURCES.fullmatch(made.name):
            ways = [Chain(made, later)]
        else:
            ways = chains(made.receiver, (made, *later)) if STEPS.fullmatch(made.method) else []
        if not ways:
            return []
        chains_so_far += ways
    return chains_so_far


def reads_files(step: Call) -> bool:
    """Whether a step maps a function of this file that reads files or decodes images."""
    used = used_by(step.argument("map_func", 0)) if step.method == "map" else ()
    return any(isinstance(value, Name) and bool(READS.fullmatch(value.path)) for value in used)
