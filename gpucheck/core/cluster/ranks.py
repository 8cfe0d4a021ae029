"""The rank of this process, and the number of processes that mpirun, horovodrun or torchrun started together.

No launcher provides host names, so ranks on several machines can't form a TensorFlow cluster by themselves. Those on one can.
Sources: Open MPI's "Environment variables"; MPICH's Hydra; horovod/runner/gloo_run.py; torch/distributed/run.py, "Environment
Variables".
"""

from collections.abc import Mapping
from typing import NamedTuple

from gpucheck.core.cluster.slurm import FIRST_PORT

# launcher: rank, size, rank on its machine, size on its machine. Only torchrun sets all four of its variables.
_LAUNCHERS = {
    "mpirun": ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    "mpiexec": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    "horovodrun": ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"),
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
}


class Ranks(NamedTuple):
    """This process among those that were started with it."""

    launcher: str
    rank: int
    size: int
    local_rank: int
    local_size: int

    @property
    def addresses(self) -> tuple[str, ...]:
        """An address for each if all of them run on this machine; else empty."""
        return tuple(f"127.0.0.1:{FIRST_PORT + rank}" for rank in range(self.size)) if self.size == self.local_size else ()


def ranks(env: Mapping[str, str]) -> Ranks | None:
    """Read the launcher's variables; None without a launcher, or with only one process."""
    for launcher, names in _LAUNCHERS.items():
        values = [env.get(name, "") for name in names]
        if all(value.isascii() and value.isdigit() for value in values):
            rank, size, local_rank, local_size = map(int, values)
            if size > 1 and rank < size <= 1 << 16 and local_rank < local_size:
                return Ranks(launcher, rank, size, local_rank, local_size)
    return None


def rank_of_size(env: Mapping[str, str]) -> tuple[int, int]:
    """Return the rank of this process and the number of those started together, also by Slurm; (0, 1) for a single process."""
    if (found := ranks(env)) is not None:
        return found.rank, found.size
    rank, size = (env.get(name, "") for name in ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))
    if all(value.isascii() and value.isdigit() for value in (rank, size)) and int(rank) < int(size):
        return int(rank), int(size)
    return 0, 1
