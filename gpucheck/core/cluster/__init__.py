"""Workers of a training job: where they are configured (TF_CONFIG, Slurm, Kubernetes), how they are started and watched."""
