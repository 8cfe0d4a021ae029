"""Facts derived from facts, once per run: what several rules ask of the same probes. A combiner touches nothing else.

A combiner's fact is handed to rules by its type, like a probe's. It is no part of the report, which holds what it came from; what
rules cite of it is evidence that the combiner took from the probes' facts.
"""
