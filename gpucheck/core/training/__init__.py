"""What child processes train: the jobs (`smoke`), their strategies, the experiments of ``--full``, workers, and benchmarks."""
