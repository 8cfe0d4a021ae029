"""Combiners: each derives one fact from other facts, once per run, for the rules that share it. A combiner uses nothing else.

Rules receive a combiner's fact by its type, like a probe's. It is not part of the report, which contains the facts that it is
derived from. Rules cite the evidence that the combiner took from the probes' facts.
"""
