"""Shared parts of findings: sentences, commands, and fixes that several rules use."""
