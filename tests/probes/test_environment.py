import re

import pytest
from fakes import FakeHost

from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.environment import KNOWN, PREFIXES, Environment, read

SENSITIVE = r"TOKEN|KEY|SECRET|PASSW|CREDENTIAL"


def test_values_of_known_names_only():
    env = {
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CONFIG": '{"cluster": {}}',
        "LD_LIBRARY_PATH": "/usr/local/nvidia/lib64",
        "SLURM_PROCID": "3",
        "CUDA_MY_OWN": "private",
        "TF_VAR_project": "private",
        "NVIDIA_REQUIRE_CUDA": "cuda>=13.0",
        "SLURM_JOB_ACCOUNT": "private",
        "HOME": "/home/me",
    }
    assert read(FakeHost(env=env)) == Environment(
        variables={
            "CUDA_VISIBLE_DEVICES": "",
            "LD_LIBRARY_PATH": "/usr/local/nvidia/lib64",
            "SLURM_PROCID": "3",
            "TF_CONFIG": '{"cluster": {}}',
        },
        unrecorded=("CUDA_MY_OWN", "NVIDIA_REQUIRE_CUDA", "TF_VAR_project"),
    )


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "TF_TOKEN_app_terraform_io",
        "NVIDIA_API_KEY",
        "KERAS_HUB_PASSWORD",
        "TPU_CREDENTIALS",
        "NGC_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "KAGGLE_KEY",
    ],
)
def test_no_value_of_a_secret(name):
    environment = read(FakeHost(env={name: "s3cr3t"}))
    assert "s3cr3t" not in repr(environment)
    assert environment.variables == {}
    assert environment.unrecorded == ((name,) if name.startswith(PREFIXES) else ())


def test_no_known_name_looks_like_a_secret():
    assert [name for name in KNOWN if re.search(SENSITIVE, name)] == []


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_same_everywhere(platform):
    assert read(FakeHost(platform=platform, env={"KERAS_BACKEND": "jax"})).variables == {"KERAS_BACKEND": "jax"}


def test_this_machine():
    env = {"TF_CPP_MIN_LOG_LEVEL": "3", "XLA_FLAGS": "--xla_gpu_autotune_level=0", "XLA_NOBODY_KNOWS": "1"}
    with LocalHost(Request(), env=env) as host:
        environment = read(host)
    assert environment.variables == {name: env[name] for name in ("TF_CPP_MIN_LOG_LEVEL", "XLA_FLAGS")}
    assert environment.unrecorded == ("XLA_NOBODY_KNOWS",)
