"""Training itself: that it goes on, that its loss is a number, and what it waits for."""

import re

from gpucheck.logs.signatures import Signature, each, fixed, named

_NUMBER = r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
_NOT_FINITE = r"[-+]?(?:nan|inf(?:inity)?)"


def _value(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    value = fields.get("value", "").lower()
    fields["value"] = "inf" if "inf" in value else "nan"
    return fields


def _moving(match: "re.Match[str]") -> dict[str, str] | None:
    """A first step, or a rate of zero, shows nothing yet."""
    fields = named(match) or {}
    return None if fields.pop("rate", "1").strip("0.") == "" else fields


SIGNATURES = (
    # -- the loss --
    *each(
        "loss-not-finite",
        ("loss",),
        rf"(?i:(?:step|iter(?:ation)?|epoch|batch)\W{{0,3}}(?P<step>\d+)\b[^\n]{{0,80}}?)?\b"
        rf"(?i:\w*loss\w*)['\"]?(?: +is| +was)? ?[:=]? ?[\[(]?"
        rf"(?:tensor\(|np\.float\d+\()?(?P<value>(?i:{_NOT_FINITE}))\b(?!-)",
        _value,
        reach=0,
    ),
    Signature(
        "loss-not-finite",
        "loss",
        r"(?i:\bloss (?:became|has become|turned|went|is|was|diverged)(?: to)? (?:infinite|infinity|non-?finite|not finite))"
        r"(?:[^\n]{0,40}?(?i:step|iteration|epoch|batch)\W{0,3}(?P<step>\d+))?",
        _value,
        reach=0,
    ),
    *each(
        "loss-not-finite",
        ("nanlossduringtraining", "invalid loss, terminating", "nan loss", "finite loss"),
        r"NanLossDuringTrainingError|(?i:batch (?P<step>\d+): )?Invalid loss, terminating training"
        r"|(?i:\bNaN loss\b|\bnon-?finite loss\b)",
        _value,
        reach=0,
    ),
    *each(
        "loss-not-finite",
        ("had nan values", "had inf", "nan/inf", "nan in summary", "contains nan", "nan or inf"),
        r"Tensor had (?P<value>NaN|Inf)\b|: Tensor had NaN|Nan in summary histogram|found (?:NaN|Inf|NaN/Inf) (?:in|values)"
        r"|(?i:(?:loss|gradients?|weights?|activations?|outputs?|tensor)\b[^\n]{0,40}contains? (?:NaN|Inf|a NaN))",
        _value,
        reach=0,
    ),
    # what TensorBoard is given, or a gradient under loss scaling: it may be over with the next step
    Signature(
        "loss-not-finite",
        "found in input tensor",
        r"(?i:NaN or Inf) found in input tensor",
        fixed(value="nan", passing="yes"),
        reach=0,
    ),
    Signature("loss-not-finite", "grad_norm", r"'loss': '?0(?:\.0*)?'?, 'grad_norm': '?(?P<value>nan|inf)\b", _value, reach=0),
    # -- progress --
    *(
        Signature("training-progress", must, pattern, _moving, reach=0)
        for must, pattern in (
            # 182/182 [=====] - 73s 198ms/step - loss: 0.19; Keras 3 draws the bar otherwise
            (
                "/step",
                rf"\b(?P<step>\d+)/\d+ .{{0,120}}?(?:\d+m?s|\d+us)/(?:step"
                rf"|epoch).{{0,200}}?\bloss: (?P<loss>{_NUMBER})(?![\w.])",
            ),
            (
                "loss",
                rf"(?i:\b(?:global_?step|step|iter(?:ation)?"
                rf"|batch)\b\W{{0,3}}(?P<step>\d+)\b.{{0,80}}?\bloss\W{{1,4}}(?P<loss>{_NUMBER})(?![\w.]))",
            ),
            ("'loss'", rf"'loss': '?(?P<loss>{_NUMBER})(?![\w.]).{{0,200}}?'epoch': '?(?P<step>[\d.]+)"),
            ("epoch", rf"(?i:\bepoch\b\W{{0,3}}(?P<step>\d+)\b.{{0,80}}?\bloss\W{{1,4}}(?P<loss>{_NUMBER})(?![\w.]))"),
            ("epoch", r"^(?i:Epoch) (?!1/)(?P<step>\d+)/\d+"),
            ("batchsize", r"\bEpoch\W{1,3}(?P<step>\d+) \| Batchsize: \d+ \| Steps: \d+"),
            ("global_step/sec", r"global_step/sec: (?P<rate>[\d.]+)"),
            ("/s]", r"\b(?P<step>[1-9]\d*)/\d+ \[[\d:]+<[\d:]+, +[\d.]+ ?(?:it|batch|step|sample)\w*/s"),
        )
    ),
    # -- replicas that must be alike --
    *each(
        "replicas-diverged",
        ("same model across all ranks", "param in process 0", "inconsistent between workers", "disagreement between rank"),
        r"(?P<message>expects same model across all ranks|not to match \w+ of the same param in process 0"
        r"|gradients are inconsistent between workers|disagreement between rank ?\d)",
    ),
    *each(
        "replicas-diverged",
        ("replica", "ranks", "workers"),
        r"^(?!.*\b(?:no|not|0) \w+ (?:differ|diverge))(?P<message>(?i:[^\n]{0,60}?"
        r"\b(?:weights?|param(?:eter)?s?|models?|replicas|gradients?|hash(?:es)?|checksums?)\b[^\n]{0,40}?"
        r"\b(?:differ(?:ent)?|diverged?|out of sync|not (?:in sync|match(?:ing)?|identical|equal)|mismatch\w*|inconsistent)\b"
        r"[^\n]{0,20}? (?:between|across|among|on|over) (?:the |all |data[- ]parallel |DP )*(?:replicas|ranks|workers)))",
        reach=0,
    ),
    # -- what it waits for --
    Signature(
        "input-bound",
        "input-bound",
        r"(?P<message>(?:is|program is) (?P<degree>HIGHLY|MODERATELY|highly"
        r"|moderately) input-bound(?:.{0,20}?(?P<percent>[\d.]+) ?%)?[^\n]{0,80})",
        reach=0,
    ),
    Signature(
        "cpu-workers-excessive",
        "worker processes in total",
        r"will create (?P<asked>\d+) worker processes in total.{0,80}?is (?P<suggested>\d+)",
    ),
    Signature(
        "kernel-cache-unwritable",
        "computecache",
        r"(?P<path>[^\s:]{0,160}ComputeCache[^\s:]*).{0,60}?(?i:permission denied|read-only|not writ\w+|no space left)",
        reach=0,
    ),
    *each(
        "kernel-cache-unwritable",
        ("cuda_cache_path", "compilation cache", "cache dir"),
        r"(?:CUDA_CACHE_PATH|[Cc]ompilation cache|CUDA cache|kernel cache)[^\n]{0,80}?(?i:permission denied"
        r"|read-only|not writ\w+|cannot (?:create|write))",
        reach=0,
    ),
)
