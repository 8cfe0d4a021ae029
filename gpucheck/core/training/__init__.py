"""Training in child processes: the strategies, and the experiments of ``--full``."""
