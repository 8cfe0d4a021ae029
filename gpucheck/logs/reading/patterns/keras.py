"""Keras: its backend, its versions, precision policies, and what was removed from TensorFlow."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, named

_BACKENDS = {"pytorch": "torch"}


def _backend(match: "re.Match[str]") -> dict[str, str] | None:
    name = match["name"].lower()
    return {"name": _BACKENDS.get(name, name)}


def _legacy(match: "re.Match[str]") -> dict[str, str] | None:
    return {"name": next(group for group in match.groups() if group)}


_REMOVED = (
    r"Session|ConfigProto|GPUOptions|placeholder|get_default_graph|global_variables_initializer"
    r"|InteractiveSession|reset_default_graph"
    r"|set_random_seed|app|flags|layers|contrib|log|estimator|Print|variable_scope|get_variable"
    r"|multi_gpu_model|GraphDef|Summary|gfile"
)

# What Keras 2 took and Keras 3 does not, or the reverse.
_OLD_ARGUMENTS = (
    r"batch_shape|batch_input_shape|weights|input_shape|input_length|time_major|implementation|ragged|sparse|lr|decay"
    r"|workers|max_queue_size|use_multiprocessing|autocast|optional|quantization_config"
)

PATTERNS = (
    Pattern(
        Kind.KERAS_BACKEND,
        ("backend",),
        r"(?i:^Using (?P<name>TensorFlow|Theano|CNTK|JAX|PyTorch|Torch|MXNet|NumPy|OpenVINO) backend\b)",
        _backend,
    ),
    # only the chosen one's folder is imported; tensorflow's and common's are always
    Pattern(
        Kind.KERAS_BACKEND,
        ("keras/src/backend/", "keras\\src\\backend\\"),
        r"keras[/\\]src[/\\]backend[/\\](?P<name>jax|torch|numpy|openvino)[/\\]",
        _backend,
    ),
    Pattern(Kind.KERAS_BACKEND, ("keras_backend",), r"\bKERAS_BACKEND['\"]?\]? ?= ?['\"]?(?P<name>[a-z]\w+)", _backend),
    # another backend of Keras 1 and 2, installed, imported or wanted
    Pattern(
        Kind.KERAS_BACKEND_OTHER,
        ("theano", "cntk"),
        r"(?i)^(?:Successfully installed|Requirement already satisfied:)[^\n]*?\b(?P<installed>theano|cntk)\b"
        r"|^(?P<listed>theano|cntk)(?:-gpu)?(?:==| +)\d+\.\d|^(?:>>> |In ?\[\d*\]: )?import (?P<imported>theano|cntk)$"
        r"|^(?!.*\b(?:not|n't|either|tensorflow)\b.*\b(?:theano|cntk)).*\b(?:use|using|want|prefer|switch(?:ed)? to)\b"
        r"[^\n.,;]{0,16}?\b(?P<wanted>theano|cntk)\b",
        lambda match: {"name": next(group for group in match.groups() if group).lower()},
    ),
    Pattern(
        Kind.KERAS_BACKEND_INVALID,
        ("unable to import backend", "invalid backend", "keras_backend"),
        r"(?:Unable to import backend ?|[Ii]nvalid (?:Keras )?backend[^\n]{0,20}?): ?[`'\"]?(?P<name>\w+)|KERAS_BACKEND\W.{0,40}"
        r"(?i:invalid|unknown|not supported)",
    ),
    # -- versions --
    Pattern(
        Kind.KERAS_VERSION_CONFLICT,
        ("keras 3", "tf-keras", "tf_keras"),
        r"(?P<message>installed version of Keras is Keras 3|not (?:yet )?supported (?:in|by|with) Keras 3"
        r"|[Kk]eras 3 only supports"
        r"|(?:install|need|require)\w* (?:the )?(?:backwards-compatible )?[`'\"]?tf[-_]keras"
        r"|do not have the tf[-_]keras package installed|[Kk]eras 2\b[^\n]{0,60}Keras 3|incompatible with Keras 3)",
        continuation_lines=1,
    ),
    Pattern(Kind.KERAS_VERSION_CONFLICT, ("keras cannot be imported",), r"(?P<message>Keras cannot be imported)"),
    Pattern(
        Kind.KERAS_VERSION_CONFLICT,
        ("has no attribute", "cannot import name", "no module named"),
        r"(?P<message>module '(?:keras|tf_keras|tensorflow\.keras|keras\._tf_keras"
        r"|tensorflow\.compat\.v2\.__internal__|tensorflow\.python\.keras)[\w.]*' has no attribute '\w+'"
        r"|cannot import name '\w+' from (?:partially initialized module )?'(?:keras|tf_keras"
        r"|tensorflow\.keras|tensorflow\.python\.keras)[\w.]*'"
        r"|No module named '(?:keras\.[\w.]+|tensorflow\.(?:python\.)?keras[\w.]*)')",
        lambda match: None if "multi_gpu" in match[0] else named(match),
    ),
    Pattern(
        Kind.KERAS_VERSION_CONFLICT,
        (
            "unrecognized keyword arguments passed to",
            "file format not supported",
            "could not deserialize class",
            "could not locate class",
            "unrecognized keyword arguments",
            "argument(s) not recognized",
            "kerastensor cannot be used",
        ),
        r"(?P<message>Unrecognized keyword arguments(?: passed to \w+)?: [\[{]'(?:" + _OLD_ARGUMENTS + r")'"
        r"|Argument\(s\) not recognized: \{'(?:" + _OLD_ARGUMENTS + r")'|A KerasTensor cannot be used as input to a TensorFlow"
        r"|File format not supported: [^\n]{0,80}Keras 3|Could not (?:deserialize|locate) class '\w+')",
        continuation_lines=1,
    ),
    # -- precision --
    Pattern(
        Kind.PRECISION_UNSUPPORTED, ("mixed precision compatibility check",), r"compatibility check \((?P<dtype>\w+)\): WARNING"
    ),
    Pattern(Kind.PRECISION_UNSUPPORTED, ("may run slowly",), r"dtype policy (?P<dtype>mixed_\w+) may run slowly"),
    Pattern(
        Kind.PRECISION_UNSUPPORTED,
        ("bfloat16", "bf16", "fp16"),
        r"(?i:(?P<dtype>bfloat16|bf16|fp16|float16)\b[^\n]{0,60}?(?:is (?:only|not) supported|not supported"
        r"|requires? (?:a )?(?:GPU|cuda))"
        r"|(?:does not|doesn't|not) support (?P<second>bfloat16|bf16|fp16))",
        lambda match: {"dtype": (match["dtype"] or match["second"]).lower()},
    ),
    Pattern(
        Kind.PRECISION_UNSUPPORTED,
        ("not implemented for 'half'", "not implemented for 'bfloat16'"),
        r"not implemented for '(?P<dtype>Half|BFloat16)'",
        lambda match: {"dtype": {"half": "float16"}.get(match["dtype"].lower(), "bfloat16")},
    ),
    # -- what is gone --
    Pattern(
        Kind.LEGACY_API,
        ("module 'tensorflow",),
        rf"module 'tensorflow(?:\._api\.v2\.\w+)?' has no attribute '({_REMOVED})'",
        _legacy,
    ),
    Pattern(Kind.LEGACY_API, ("tensorflow.contrib",), r"No module named '?(tensorflow\.contrib)", _legacy),
    Pattern(
        Kind.LEGACY_API,
        ("multi_gpu_model",),
        r"(?:cannot import name '|has no attribute '|No module named '[\w.]*)(multi_gpu_model)"
        r"|name '(multi_gpu_model)' is not defined",
        _legacy,
    ),
    Pattern(Kind.LEGACY_API, ("multi_gpu_utils",), r"No module named '[\w.]*(multi_gpu_utils)'", _legacy),
    Pattern(Kind.LEGACY_API, ("mxnet",), r"(?i:backend\W{1,4}(mxnet))", _legacy),
)
