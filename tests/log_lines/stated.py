"""Causes that a text states in words: a subject, and close to it what is wrong with it, in the languages that people write.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "stated": (
        ("- cause: the NVIDIA driver is not installed", {"cause": "driver-missing"}),
        ("| cuDNN version mismatch | reinstall |", {"cause": "cudnn-version-mismatch"}),
    ),
}

NOT_MEANT = {
    "stated": ("make sure that the NVIDIA driver is not missing", "NVIDIA driver 580 installed"),
}
