"""Choose what to install on a machine: the newest combination that works, and why newer ones do not.

- machine: the machine, and the user's wishes
- answer: the choices, the excluded releases with reasons, and the limits
- constraints: the reasons why a TensorFlow release does not work on a machine
- solve: the answer for TensorFlow; rules use it as well
- backends: the answer for Keras on JAX or PyTorch
- commands: the commands for a choice
- render: the answer as text, JSON, and files that other programs read
- facts, pythons, read: this machine, through the host
- apply, steps, proof: the environment made and proven

All up to ``render`` are pure functions over the tables of ``gpucheck/core/compat``.
"""
