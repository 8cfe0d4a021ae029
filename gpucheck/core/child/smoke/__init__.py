"""The smoke job: a small network on generated, learnable data, trained for a few steps; what it proves, and how it is judged.

``network`` builds it, ``fit`` trains it with ``Model.fit`` on one strategy, ``together`` on several devices at the same time,
``throughput`` steps it on the input pipeline or on one resident batch; ``placement`` says where the work really ran, ``proof``
what the numbers prove. Everything reported was measured here.
"""
