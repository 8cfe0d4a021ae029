"""Environment variables and files in the home folder that change what CUDA, TensorFlow and Keras do."""

import json

from lab.bench import DEFAULT, NO_SMOKE, Fault, Trial

HIDDEN = "devices-hidden"


def keras_json(backend: str):
    """A keras.json in the home folder."""

    def build(trial: Trial) -> None:
        folder = trial.home / ".keras"
        folder.mkdir()
        (folder / "keras.json").write_text(
            json.dumps({"backend": backend, "floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"})
        )

    return build


FAULTS = (
    Fault("visible-devices-minus-1", HIDDEN, env={"CUDA_VISIBLE_DEVICES": "-1"}),
    Fault("visible-devices-empty", HIDDEN, env={"CUDA_VISIBLE_DEVICES": ""}),
    Fault("visible-devices-index-7-of-2", HIDDEN, scenario={"gpus": 2}, env={"CUDA_VISIBLE_DEVICES": "7"}),
    Fault("visible-devices-foreign-uuid", HIDDEN, env={"CUDA_VISIBLE_DEVICES": "GPU-deadbeef-0000-0000-0000-000000000000"}),
    Fault("visible-devices-a-word", HIDDEN, env={"CUDA_VISIBLE_DEVICES": "all"}),
    Fault("visible-devices-list-stops-early", HIDDEN, exit=0, scenario={"gpus": 4}, env={"CUDA_VISIBLE_DEVICES": "0,9,1"}),
    Fault(
        "visible-devices-left-by-slurm",
        HIDDEN,
        scenario={"gpus": 8},
        env={"CUDA_VISIBLE_DEVICES": "NoDevFiles", "SLURM_JOB_ID": "42"},
    ),
    Fault(
        "visible-devices-minus-1-tensorflow-asked",
        HIDDEN,
        level=NO_SMOKE,
        env={"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    ),
    Fault("device-order-foo", "cuda-environment-malformed", env={"CUDA_DEVICE_ORDER": "FOO"}),
    Fault("device-order-lower-case", "cuda-environment-malformed", env={"CUDA_DEVICE_ORDER": "pci_bus_id"}),
    Fault(
        "unknown-xla-flag",
        "xla-flags-unknown",
        level=DEFAULT,
        env={"XLA_FLAGS": "--xla_gpu_no_such_flag=1", "CUDA_VISIBLE_DEVICES": "-1"},
        args=("--allow-cpu", "--strategy", "one_device"),
    ),
    Fault("keras-backend-unknown", "keras-backend-mismatch", env={"KERAS_BACKEND": "theano"}),
    Fault("keras-backend-torch-is-a-choice", "keras-backend-mismatch", exit=0, env={"KERAS_BACKEND": "torch"}),
    Fault("keras-backend-jax-not-installed", "keras-backend-mismatch", level=NO_SMOKE, env={"KERAS_BACKEND": "jax"}),
    Fault("keras-backend-torch-not-installed", "keras-backend-mismatch", level=NO_SMOKE, env={"KERAS_BACKEND": "torch"}),
    Fault("backend-jax-asked-for-and-absent", "keras-backend-not-installed", args=("--backend", "jax")),
    Fault("backend-torch-asked-for-and-absent", "keras-backend-not-installed", level=DEFAULT, args=("--backend", "torch")),
    Fault("keras-json-says-jax", "keras-backend-mismatch", level=NO_SMOKE, build=keras_json("jax")),
    Fault("keras-json-says-torch", "keras-backend-mismatch", level=NO_SMOKE, build=keras_json("torch")),
    Fault("legacy-keras-asked-for-and-absent", "keras-version-conflict", env={"TF_USE_LEGACY_KERAS": "1"}),
)
