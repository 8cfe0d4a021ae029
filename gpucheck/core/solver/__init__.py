"""The solver: what to install on a machine, as the newest combination that works, and why newer ones do not.

- machine: the machine, also from the facts of probes, and the user's requirements
- answer: the choices, the excluded releases with reasons, and the limits
- constraints: the reasons why a TensorFlow release does not work on a machine
- solve: the choices for TensorFlow; rules use them as well
- backends: the answer for Keras on JAX or PyTorch
- boards: the answers for accelerators with the vendor's own packages: AMD's GPUs, Jetson, TPUs
- commands: the commands for a choice

All are pure functions over the tables of ``gpucheck/core/compat``. ``gpucheck/commands/setup`` adds advice to
an answer, prints it and installs it.
"""
