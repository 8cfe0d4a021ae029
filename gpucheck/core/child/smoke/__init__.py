"""The smoke job: a small network on generated, learnable data, trained for a few steps and verified.

``network`` builds it, ``fit`` trains it with ``Model.fit`` on one strategy, ``together`` on several devices at the same time,
``throughput`` steps it on the input pipeline or on one resident batch; ``placement`` finds the devices that ran the work, and
``proof`` verifies the results. Everything reported was measured here.
"""
