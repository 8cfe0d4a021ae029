"""What to install on a machine: the newest combination that works there, and why every newer one does not.

- machine: what the answer depends on, and what the user wishes
- answer: the choices, what is excluded and why, what would lift a limit
- constraints: each reason for which a TensorFlow release does not work on a machine
- solve: the answer for TensorFlow; rules ask it as well
- backends: the answer for Keras on JAX or PyTorch
- commands: what to type for a choice
- render: the answer as text, JSON, and files that other programs read
- facts, pythons, read: this machine, through the host
- apply, steps, proof: the environment made and proven

All up to ``render`` are pure functions over the tables of ``gpucheck/core/compat``.
"""
