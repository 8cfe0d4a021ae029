"""Causes that a text tells of by what cured it.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

_CAUSE = {"cause": "peer-access-unavailable"}

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "stated": (
        ("Training hangs on 4 GPUs; it works with NCCL_P2P_DISABLE=1", _CAUSE),
        ("Setting NCCL_P2P_DISABLE=1 fixes the hang.", _CAUSE),
        ("`NCCL_P2P_DISABLE=1` makes it work, but all_reduce is slow", _CAUSE),
        ("I set NCCL_P2P_DISABLE=1 and it worked", _CAUSE),
        ("On two RTX 4090s it only runs when setting NCCL_P2P_DISABLE=1.", _CAUSE),
    ),
}

NOT_MEANT = {
    "stated": (
        "export NCCL_P2P_DISABLE=1",
        "NCCL_P2P_DISABLE=1 python train.py",
        "You can try NCCL_P2P_DISABLE=1 to see if it works",
        "If it hangs, setting NCCL_P2P_DISABLE=1 may fix it.",
        "Set NCCL_P2P_DISABLE=1; training works on PCIe cards",
        "NCCL_P2P_DISABLE=1 did not help.",
        "It doesn't work with NCCL_P2P_DISABLE=1 either",
        "Does it work with NCCL_P2P_DISABLE=1?",
        "works fine without NCCL_P2P_DISABLE=1",
        "runs with NCCL_P2P_DISABLE=0",
        'echo "works with NCCL_P2P_DISABLE=1"',
        "NCCL INFO NCCL_P2P_DISABLE set by environment to 1.",
    ),
}
