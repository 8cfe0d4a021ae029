"""The package of each Python module that a program may import.

Only modules of programs that train: a name that is not here may be the program's own file, or a package of another author.
Source: each package's page on https://pypi.org/project/NAME/
"""

# Modules whose package has another name, in lower case.
_DIFFERENT_NAME = {
    "absl": "absl-py",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cupy": "cupy-cuda12x",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "distutils": "setuptools",  # which has it since Python 3.12
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "gin": "gin-config",
    "git": "GitPython",
    "google.auth": "google-auth",
    "google.cloud": "google-cloud-storage",
    "google.protobuf": "protobuf",
    "haiku": "dm-haiku",
    "imblearn": "imbalanced-learn",
    "importlib_resources": "importlib_resources",
    "keras_core": "keras-core",
    "keras_nlp": "keras-hub",
    "kerastuner": "keras-tuner",
    "official": "tf-models-official",
    "orbax": "orbax-checkpoint",
    "pil": "pillow",
    "pkg_resources": "setuptools<81",  # later ones do not have it
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tensorflow_probability": "tensorflow-probability[tf]",
    "yaml": "pyyaml",
}
# Packages with the name of their module, in which a hyphen is an underscore.
_SAME_NAME = """
accelerate albumentations apache-beam array_record astunparse brax chex datasets diffrax diffusers dill distrax einops equinox
evaluate flatbuffers flax gast gdown grain gym gymnasium h5py horovod huggingface-hub imageio ipywidgets jraph kagglehub
keras-cv keras-hub keras-tuner librosa lightgbm matplotlib ml-collections ml_dtypes mlflow namex nltk numba numpyro nvtx onnx
onnxruntime opt_einsum optax optree optuna packaging pandas peft plotly psutil pyarrow pycocotools pydot pytorch-lightning ray
regex requests rich rlax safetensors scikeras scipy seaborn sentencepiece setuptools six soundfile spacy sympy tensorboard
tensorboardX tensorflow-datasets tensorflow-decision-forests tensorflow-hub tensorflow-model-optimization tensorflow-text
termcolor tf-slim tf2onnx tfx tiktoken tokenizers torchaudio torchvision tqdm transformers trax typing_extensions ultralytics
wandb wrapt xgboost
"""
_PACKAGES = {name.replace("-", "_").lower(): name for name in _SAME_NAME.split()} | _DIFFERENT_NAME


def is_known(package: str) -> bool:
    """Whether this is the name of a package in the table."""
    return package in _PACKAGES.values()


def package_of(module: str) -> str | None:
    """Return the requirement that installs a module, also of one of its parts ("PIL.Image"); None: unknown."""
    first, _, rest = module.lower().partition(".")
    return _PACKAGES.get(f"{first}.{rest.partition('.')[0]}") or _PACKAGES.get(first)


def package_for(module: str) -> str:
    """Return the package of a module whose import failed: "protobuf" for "google.protobuf"; an unknown module's own name."""
    return "protobuf" if module == "google" else package_of(module) or module.partition(".")[0]
