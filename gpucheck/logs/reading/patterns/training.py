"""Training itself: that it goes on, that its loss is a number, and what it waits for."""

import math
import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named

_NUMBER = r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?"
# A loss that does not go down, in English: not a condition, and not the validation's, which rises in good training too.
_NO_CONDITION = (
    r"^(?!.{0,80}\b(?:if|when|until|unless|whether|val(?:idation)?|test|dev|early[ -]stopp\w+)\b.{0,30}?loss)"
    r"(?:.{0,200}?[^\w-]|\W*)"
)
_STUCK = (
    r"(?<!packet )(?<!weight )(?<!data )"
    r"loss(?:es)?\b['\"`*]* ?(?:\w+ )?(?:(?:is |was |got |gets |stays |stayed |remains |remained )?stuck\b"
    r"|(?:stays|stayed|remains|remained|is) (?:flat|constant)\b"
    r"|(?:is |was )?not (?:decreas|fall|going down|converg|dropp|reduc)\w*"
    r"|(?:doesn'?t|does not|didn'?t|did not|won'?t|never|fails? to) (?:decreas|fall|drop|go(?:es)? down|converg|reduc)\w*)"
)
# In Chinese, Japanese, Korean, Russian, Spanish and Portuguese, German.
_LOSSES = ("loss", "损失", "損失", "ロス", "손실", "потер", "pérdida", "perda")
_STUCK_ELSEWHERE = (
    r"(?:loss|损失|損失|ロス|손실|потер\w+|pérdida|perda)\W?(?:值|函数|値|関数|값|함수)?(?:"
    r"[^\n]{0,8}?(?:不|没有|沒有|未|无法|無法)再?(?:下降|收敛|收斂|降低|减小|减少|變化|变化)"
    r"|[はが][^\n]{0,8}?(?:下がら|減ら|収束し|減少し)(?:な|ません)"
    r"|[가이은는]?[^\n]{0,10}?(?:줄어들|줄|감소하|떨어지|수렴하|내려가)지 ?(?:않|못)|[가이은는]? ?안 (?:줄|떨어|내려)"
    r"|[^\n]{0,12}? не (?:уменьша|пада|снижа|сход)\w*"
    r"|[^\n]{0,12}? n[oã]o? (?:baja|disminuye|converge|diminui|cai)\b"
    r"|[^\n]{0,12}? (?:sinkt|fällt|konvergiert) nicht)"
)
_MOST_CLASSES = 10  # as their logarithm: 22,026
_CHANCE = 0.1  # how far, relatively, an accuracy may be from that of a guess
_TURNED = r"(?:is|was|are|be(?:comes?|came)|goes|went|going|turn(?:s|ed)?|has become|gets|got|stays)(?: (?:to|into))?"
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


def _at_chance(match: "re.Match[str]") -> dict[str, str] | None:
    """classes: the number of classes that loss and accuracy are those of a guess among."""
    loss, accuracy = float(match["loss"]), float(match["accuracy"])
    classes = round(math.exp(loss)) if 0 < loss < _MOST_CLASSES else 0
    if classes < 2 or abs(loss - math.log(classes)) > 0.005 * loss or abs(accuracy * classes - 1) > _CHANCE:
        return None
    return {"loss": match["loss"], "accuracy": match["accuracy"], "classes": str(classes)}


PATTERNS = (
    # -- the loss --
    Pattern(
        Kind.LOSS_NOT_FINITE,
        ("loss",),
        rf"(?i:(?:step|iter(?:ation)?|epoch|batch)\W{{0,3}}(?P<step>\d+)\b[^\n]{{0,80}}?)?\b"
        rf"(?i:\w{{0,40}}?loss\w{{0,40}})['\"]?(?: +{_TURNED})? ?[:=]? ?[\[(]?"
        rf"(?:tensor\(|np\.float\d+\()?(?P<value>(?i:{_NOT_FINITE}))(?![A-Za-z0-9_-])",
        _value,
    ),
    Pattern(
        Kind.LOSS_NOT_FINITE,
        ("loss",),
        r"(?i:\bloss (?:became|has become|turned|went|is|was|diverged)(?: to)? (?:infinite|infinity|non-?finite|not finite))"
        r"(?:[^\n]{0,40}?(?i:step|iteration|epoch|batch)\W{0,3}(?P<step>\d+))?",
        _value,
    ),
    Pattern(
        Kind.LOSS_NOT_FINITE,
        ("nanlossduringtraining", "invalid loss, terminating", "nan loss", "finite loss"),
        r"NanLossDuringTrainingError|(?i:batch (?P<step>\d+): )?Invalid loss, terminating training"
        r"|(?i:\bNaN loss\b|\bnon-?finite loss\b)",
        _value,
    ),
    Pattern(
        Kind.LOSS_NOT_FINITE,
        ("had nan values", "had inf", "nan/inf", "nan in summary", "contains nan", "nan or inf"),
        r"Tensor had (?P<value>NaN|Inf)\b|: Tensor had NaN|Nan in summary histogram|found (?:NaN|Inf|NaN/Inf) (?:in|values)"
        r"|(?i:(?:loss|gradients?|weights?|activations?|outputs?|tensor)\b[^\n]{0,40}contains? (?:NaN|Inf|a NaN))",
        _value,
    ),
    # what TensorBoard is given, or a gradient under loss scaling: it may be over with the next step
    Pattern(
        Kind.LOSS_NOT_FINITE,
        ("found in input tensor",),
        r"(?i:NaN or Inf) found in input tensor",
        fixed(value="nan", passing="yes"),
    ),
    Pattern(Kind.LOSS_NOT_FINITE, ("grad_norm",), r"'loss': '?0(?:\.0*)?'?, 'grad_norm': '?(?P<value>nan|inf)\b", _value),
    # -- a loss that stays where it is, in words of several languages --
    Pattern(Kind.LOSS_STUCK, ("loss",), rf"(?i){_NO_CONDITION}(?P<message>{_STUCK})"),
    Pattern(Kind.LOSS_STUCK, _LOSSES, rf"(?i)(?<![\w-])(?P<message>{_STUCK_ELSEWHERE})"),
    # what guessing among k classes gives: a loss of ln k at an accuracy of 1/k
    Pattern(
        Kind.LOSS_AT_CHANCE,
        ("acc",),
        rf"\bloss\W{{1,4}}(?P<loss>{_NUMBER})(?![\w.])\W{{1,6}}(?:\w*_)?acc(?:uracy)?\W{{1,4}}(?P<accuracy>0?\.\d+)\b",
        _at_chance,
    ),
    Pattern(
        Kind.LOSS_AT_CHANCE,
        ("acc",),
        rf"\bacc(?:uracy)?\W{{1,4}}(?P<accuracy>0?\.\d+)\W{{1,6}}loss\W{{1,4}}(?P<loss>{_NUMBER})(?![\w.])",
        _at_chance,
    ),
    # -- progress --
    *(
        Pattern(Kind.TRAINING_PROGRESS, (must,), pattern, _moving)
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
    # a program's start, or the command that starts it
    Pattern(
        Kind.PROGRAM_STARTED,
        (
            *("epoch 1/", "worker group", "restarting", "resuming", "restored", "restoring parameters", "respawn"),
            *("srun ", "mpirun ", "torchrun ", "python ", "python2 ", "python3 "),
        ),
        r"^Epoch 1/\d|\b[Ss]tarting worker group|(?i:\brespawn(?:ing|ed)\b)|\bRestoring parameters from "
        r"|(?i:\b(?:restarting|resuming|restored)\b[^\n]{0,40}\b(?:training|checkpoint|job|workers?|epoch|step)\b)"
        r"|^(?:[$+] |\S+@\S+[$#] )?(?:\w+=\S+ )*(?:srun|mpirun|torchrun|(?:\S*/)?python[\d.]*) (?=[^\n]*(?:\w\.py\b|-m \w))",
        fixed(),
    ),
    # -- replicas that must be alike --
    Pattern(
        Kind.REPLICAS_DIVERGED,
        ("same model across all ranks", "param in process 0", "inconsistent between workers", "disagreement between rank"),
        r"(?P<message>expects same model across all ranks|not to match \w+ of the same param in process 0"
        r"|gradients are inconsistent between workers|disagreement between rank ?\d)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.REPLICAS_DIVERGED,
        ("replica", "ranks", "workers"),
        r"^(?!.*\b(?:no|not|0) \w+ (?:differ|diverge))(?P<message>(?i:[^\n]{0,60}?"
        r"\b(?:weights?|param(?:eter)?s?|models?|replicas|gradients?|hash(?:es)?|checksums?)\b[^\n]{0,40}?"
        r"\b(?:differ(?:ent)?|diverged?|out of sync|not (?:in sync|match(?:ing)?|identical|equal)|mismatch\w*|inconsistent)\b"
        r"[^\n]{0,20}? (?:between|across|among|on|over) (?:the |all |data[- ]parallel |DP )*(?:replicas|ranks|workers)))",
    ),
    # -- variables of another scope than the strategy's --
    Pattern(
        Kind.VARIABLE_OUTSIDE_SCOPE,
        ("strategy scope", "strategy.scope()", "tf.distribute.strategy objects", "scope for tf.distribute.strategy"),
        r"\bcreated (?:in|inside|outside)(?: the| a different)? distribution strategy scope"
        r"|\bvariable created in this tf\.distribute\.Strategy\.scope\(\), not\b"
        r"|\b(?:Mixing different|Mismatching) tf\.distribute\.(?:\w+\.)*Strategy objects\b"
        r"|\b[Nn]eed to be inside \W{0,3}with strategy\.scope\(\)"
        r"|\bslot variable under the scope for tf\.distribute\.Strategy\b",
        fixed(),
    ),
    # -- what it waits for --
    Pattern(
        Kind.INPUT_BOUND,
        (Kind.INPUT_BOUND,),
        r"(?P<message>(?:is|program is) (?P<degree>HIGHLY|MODERATELY|highly"
        r"|moderately) input-bound(?:.{0,20}?(?P<percent>[\d.]+) ?%)?[^\n]{0,80})",
    ),
    # somebody's word for it, not advice on a case that may come
    Pattern(
        Kind.INPUT_BOUND,
        (
            "data loading",
            "data loader",
            "dataloader",
            "input pipeline",
            "数据加载",
            "i/o bound",
            "io bound",
            "io-bound",
            "i/o-bound",
        ),
        r"(?i)^(?!.{0,60}\b(?:if|when|whether|could|may|might|check)\b)(?!.{0,20}(?:如果|若|检查)).{0,200}?"
        r"(?P<message>(?:data ?load(?:ing|er)s?|input pipelines?|数据加载)['`\"*]* ?(?:is|was|are|是|成为|成了)(?: (?:the|a))? ?"
        r"(?:main |real )?(?:bottlenecks?|瓶颈)|\bI/?O[- ]bound(?! tasks?))",
    ),
    # tf.data says so every ten seconds
    Pattern(
        Kind.SHUFFLE_BUFFER_FILLING,
        ("filling up shuffle buffer",),
        r"Filling up shuffle buffer[^\n:]{0,40}: *(?P<filled>\d+) of (?P<size>\d+)",
    ),
    Pattern(
        Kind.CPU_WORKERS_EXCESSIVE,
        ("worker processes in total",),
        r"will create (?P<asked>\d+) worker processes in total.{0,80}?is (?P<suggested>\d+)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.KERNEL_CACHE_UNWRITABLE,
        ("computecache",),
        r"(?<![^\s:])(?P<path>[^\s:]{0,160}?ComputeCache[^\s:]{0,160}).{0,60}?(?i:permission"
        r" denied|read-only|not writ\w+|no space left)",
    ),
    Pattern(
        Kind.KERNEL_CACHE_UNWRITABLE,
        ("cuda_cache_path", "compilation cache", "cache dir"),
        r"(?:CUDA_CACHE_PATH|[Cc]ompilation cache|CUDA cache|kernel cache)[^\n]{0,80}?(?i:permission denied"
        r"|read-only|not writ\w+|cannot (?:create|write))",
    ),
)
