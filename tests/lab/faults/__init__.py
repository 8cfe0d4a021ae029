"""Faults by family: each file is a tuple ``FAULTS``, and finding them is walking this folder."""
