"""Moved to ``gpucheck.advice.xid``."""

from gpucheck.advice.xid import advice
from gpucheck.advice.xid import xid_of as decoded

__all__ = ["advice", "decoded"]
