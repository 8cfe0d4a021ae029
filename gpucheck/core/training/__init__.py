"""What is trained and measured in child processes: the strategies, and the experiments of ``--full``."""
