"""What several rules ask about tf.data pipelines: the chain of calls that made a dataset."""

import re

from gpucheck.lint.lookup import options
from gpucheck.lint.values import Call, Element, Value

SOURCES = re.compile(
    r"tensorflow\.data\.(Dataset\.\w+|\w+Dataset|experimental\.\w+)|tensorflow_datasets\.load|keras\.(utils|preprocessing)\.\w+_dataset_from_directory"
)
# Methods of a dataset that return a dataset with the properties of what they are called on.
STEPS = frozenset(
    [
        "as_numpy_iterator",
        "batch",
        "bucket_by_sequence_length",
        "cache",
        "concatenate",
        "enumerate",
        "filter",
        "flat_map",
        "group_by_window",
        "ignore_errors",
        "interleave",
        "map",
        "padded_batch",
        "prefetch",
        "ragged_batch",
        "rebatch",
        "repeat",
        "scan",
        "shard",
        "shuffle",
        "skip",
        "sparse_batch",
        "take",
        "take_while",
        "unbatch",
        "unique",
        "window",
        "with_options",
    ]
)
BATCHES = frozenset(("batch", "padded_batch", "ragged_batch"))
MOST_CHAINS = 16


class Chain:
    """One way in which a dataset may have been made: the source, then the steps."""

    def __init__(self, source: Call, steps: tuple[Call, ...]) -> None:
        self.source = source
        self.steps = steps

    def has(self, *methods: str) -> bool:
        """Whether any of these steps is taken."""
        return any(step.method in methods for step in self.steps)

    @property
    def batch(self) -> Call | None:
        """The last step that batches."""
        return next((step for step in reversed(self.steps) if step.method in BATCHES), None)


def chains(value: Value | None) -> list[Chain]:
    """Every way in which a dataset may have been made; empty where one of them is not known from source to end."""
    found: list[Chain] = []
    for option in options(value):
        made = _chains(option, ())
        if not made or len(found) > MOST_CHAINS:
            return []
        found += made
    return found


def _chains(value: Value, later: tuple[Call, ...]) -> list[Chain]:
    while True:
        if isinstance(value, Element) and isinstance(value.of, Call) and value.of.name == "tensorflow_datasets.load":
            value = value.of
        if not isinstance(value, Call):
            return []
        if value.name and SOURCES.fullmatch(value.name):
            return [Chain(value, later)]
        if value.method not in STEPS or len(later) > 40:
            return []
        later = (value, *later)
        found = list(options(value.receiver))
        if len(found) == 1:
            value = found[0]
            continue
        every: list[Chain] = []
        for one in found:
            made = _chains(one, later)
            if not made or len(every) > MOST_CHAINS:
                return []
            every += made
        return every
