"""Metadata of the distribution ``keras-gpucheck``; tool settings are in pyproject.toml.

TensorFlow and Keras are extras, never requirements: installing a diagnosis must not change the patient.
"""

import pathlib
import re

from setuptools import find_packages, setup

HERE = pathlib.Path(__file__).parent
VERSION = re.search(r'__version__ = "([^"]+)"', (HERE / "gpucheck/__init__.py").read_text())[1]

setup(
    name="keras-gpucheck",
    version=VERSION,
    description="Will this machine train Keras on every device it has? If not: the root cause, and what to type.",
    long_description=(HERE / "README.md").read_text() if (HERE / "README.md").exists() else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=find_packages(include=["gpucheck", "gpucheck.*"]),
    package_data={"gpucheck": ["py.typed", "reports/*.jinja"]},
    install_requires=[
        "click>=8.1",
        "msgspec>=0.18",
        "nvidia-ml-py>=12.535",
        "packaging>=22",
        "psutil>=5.9",
        "rich>=13",
        'tomli>=2; python_version < "3.11"',
    ],
    extras_require={
        "tensorflow": ["tensorflow>=2.16"],
        "cuda": ["tensorflow[and-cuda]>=2.16"],
        "html": ["jinja2>=3.1", "matplotlib>=3.8"],
        "notebook": ["nbformat>=5.1"],
        "prometheus": ["prometheus_client>=0.20"],
        "test": [
            "dockerfile-parse>=2",
            "html5lib>=1.1",
            "jinja2>=3.1",
            "jsonschema>=4.18",
            "junitparser>=3.1",
            "matplotlib>=3.8",
            "nbformat>=5.1",
            "prometheus_client>=0.20",
            "pytest>=8",
            "pytest-timeout>=2.3",
            "pyyaml>=6",
        ],
        "lint": ["mypy>=1.11", "ruff>=0.6", "types-psutil"],
    },
    entry_points={"console_scripts": ["gpucheck = gpucheck.cli:main"]},
    classifiers=[
        "Environment :: GPU :: NVIDIA CUDA",
        "Intended Audience :: Developers",
        "Intended Audience :: System Administrators",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: System :: Hardware",
        "Typing :: Typed",
    ],
)
