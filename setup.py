"""The metadata is in pyproject.toml; this file is here for tools that still start from it."""

from setuptools import setup

setup()
