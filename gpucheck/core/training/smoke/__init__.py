"""The smoke job: a small network on generated, learnable data, trained for a few steps and verified.

``network`` builds it; ``fit`` trains it with ``Model.fit`` on one strategy, ``parallel_devices`` on several at the same time,
``loop`` with custom loops; ``throughput`` steps it on the input pipeline or on one resident batch; ``proof`` finds the devices
that ran the work, and verifies the results. Every reported value is measured here.
"""
