"""Moved to ``gpucheck.advice.wording``."""

from gpucheck.advice.wording import gib, listing, short

__all__ = ["gib", "listing", "short"]
