"""Workers of a training job: who names them (TF_CONFIG, Slurm, Kubernetes), how they are started, watched and joined."""
