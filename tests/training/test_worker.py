"""A worker's versions and error messages. Its training is in tests/probes/test_workers.py."""

import pathlib
import types

import pytest

from gpucheck.core.training import worker

RAW = pathlib.Path(__file__).parents[1] / "raw"
GRAPH = """Graph execution error:

Detected at node CollectiveReduceV2 defined at (most recent call last):
  File "train.py", line 34, in <module>

  File "train.py", line 23, in step

Collective ops is aborted by: recvmsg:Connection reset by peer
The error could be from a previous operation. Restart your program to reset.
\t [[{{node CollectiveReduceV2}}]] [Op:__inference_step_134]"""
PER_REPLICA = """Attempt to convert a value (PerReplica:{
  0: <tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[1., 1.]], dtype=float32)>
}) with an unsupported type (PerReplica) to a Tensor."""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GRAPH, "Collective ops is aborted by: recvmsg:Connection reset by peer"),
        (PER_REPLICA, "Attempt to convert a value (PerReplica:{...}) with an unsupported type (PerReplica) to a Tensor."),
        ("{{function_node __wrapped__X_device_/job:worker/task:0}} Collective ops is aborted", "Collective ops is aborted"),
        ("", ""),
    ],
)
def test_exception_text_is_shortened_to_its_cause(text, words):
    assert worker.exception_text(ValueError(text)) == f"ValueError: {words}"


def test_driver_version_is_read_from_proc(tmp_path):
    assert worker.driver_version(str(RAW / "h200/proc_driver_nvidia_version.txt")) == "580.159.04"
    assert worker.driver_version(str(tmp_path / "none")) is None


def test_versions_of_frameworks_and_libraries():
    sysconfig = types.SimpleNamespace(
        get_build_info=lambda: {"is_cuda_build": True, "is_rocm_build": False, "cuda_version": "12.5.1", "cudnn_version": "9"}
    )
    tensorflow = types.SimpleNamespace(__version__="2.21.0", sysconfig=sysconfig)
    found = worker.versions(tensorflow, types.SimpleNamespace(__version__="3.15.1"))
    assert {name: found[name] for name in ("tensorflow", "keras", "cuda")} == {
        "tensorflow": "2.21.0", "keras": "3.15.1", "cuda": "12.5.1",
    }  # fmt: skip
    assert found["cudnn"]
    assert found["python"].count(".") == 2


def test_library_versions_match_the_cuda_of_tensorflow(tmp_path, monkeypatch):
    for name, version in (("nvidia-cudnn-cu12", "9.28.0"), ("nvidia-cudnn-cu13", "9.19.0"), ("nvidia-nccl-cu13", "2.28.9")):
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    info = {"is_cuda_build": True, "is_rocm_build": False, "cuda_version": "12.5.1", "cudnn_version": "9"}
    sysconfig = types.SimpleNamespace(get_build_info=lambda: info)
    found = worker.versions(
        types.SimpleNamespace(__version__="2.21.0", sysconfig=sysconfig), types.SimpleNamespace(__version__="3")
    )
    assert (found["cudnn"], found.get("nccl")) == ("9.28.0", None)


def test_too_long_record_raises_an_error():
    with pytest.raises(ValueError, match="more than"):
        worker.exchange(None, None, {"name": "x" * worker.RECORD_BYTES})
