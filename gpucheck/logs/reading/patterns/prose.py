"""Causes that a text states in words: a subject, and close to it what is wrong with it, in the languages that people write.

Notes, tables of errors and scripts say so where no program's own message is left. Rules ask for it last, where a log holds
nothing else that tells of a failure.
"""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Fields, Pattern
from gpucheck.logs.reading.words import ABSENT, ABSENT_BEFORE, NO_LONGER, OLD, UNFIT, UNSUPPORTED, ascii_words

KIND = Kind.STATED

_DRIVER = (
    r"(?:\b(?:NVIDIA|GPU|graphics|video)(?: \w+)? drivers?\b"
    r"|\b(?:drivers?|controlador(?:es)?|pilotes?|Treiber) (?:de (?:la |le )?)?(?:NVIDIA|GPU)\b|\bNVIDIA[- ]?Treiber\b"
    r"|(?:NVIDIA|GPU|显卡|顯卡|N卡) ?的?(?:驱动|驅動|ドライバー?|드라이버)\w{0,2}"
    r"|драйвер\w*(?: \w+)? NVIDIA|NVIDIA[- ]драйвер\w*)"
)
_DRIVERS = (
    *(
        "nvidia driver",
        "gpu driver",
        "graphics driver",
        "video driver",
        "driver nvidia",
        "drivers nvidia",
        "nvidia kernel driver",
    ),
    *("nvidia 驱动", "nvidia驱动", "显卡驱动", "gpu驱动", "gpu 驱动", "顯卡驅動", "ドライバ", "드라이버", "драйвер"),
    *("controlador", "treiber", "pilote"),
)
_MODULE = r"(?:\bNVIDIA(?:\.ko)?(?: kernel)? modules?\b|\bkernel modules? (?:for )?NVIDIA\b|\bNVIDIA (?:内核|커널) ?모듈)"
_DROPPED = rf"{NO_LONGER}|\b(?:was|were|been|is|are) (?:dropped|removed|discontinued)\b|{UNSUPPORTED}"
_DROPPED_BEFORE = rf"\b(?:dropp?(?:s|ed|ing)?|removed|removes|ended)\b(?: support)?(?: (?:for|of))?|{NO_LONGER}"
_NO_KERNELS = rf"(?:{UNSUPPORTED})|\bno (?:native )?(?:kernels?|support) (?:for)?"
_WINDOWS = r"(?:dropped|removed|ended|no longer|not support\w*|n't support\w*|不支持|不再支持|지원하지|미지원|サポートされ)"

_HYPOTHETICAL = re.compile(r"(?i)\b(?:if|unless|whether|in case)\b|(?<![\w'])(?:如果|もし|если)")  # within the phrase
_WISHED = re.compile(r"(?i)\b(?:make sure|ensure|to (?:avoid|prevent))\b|确保|避免|防止|чтобы")  # there, and shortly before it
_DENIED = re.compile(
    r"(?i)(?:\bnot (?:(?:a|an|the|due to|caused by|because of) )*|(?:不是|并非|而非)[^，。,]{0,4})$"
)  # right before it
# right behind it: what such a thing does in general, or what else may be wrong with it
_GENERAL = re.compile(
    r"(?i)(?: (?!and\b|which\b|that\b|so\b|but\b)[\w/-]+){0,8}? (?:can|may|might|could) (?:cause|lead|result|prevent|break)\b"
    r"|(?<=: outdated) or\b|可能会?(?:导致|引起|造成)"
)
# a program that goes on without a GPU says so in passing
_WITHOUT = re.compile(
    r"(?i)\b(?:us\w+|to|on|with)(?: the)? CPU\b"
    r"|\bCPU[- ](?:only|mode|fallback|instead|version|build|will|execution|inference\b(?! path))"
    r"|(?:使用|回退|切换|改用|降级)\W?(?:到|为|至)? ?CPU|CPU ?(?:で|로|モード|模式|运行)"
)
_PASSED_OVER = ("driver-missing", "no-nvidia-gpu", "macos-no-cuda")
# CUDA's results that name a cause, where a text gives the number alone
_RESULTS = {
    "34": "cuda-stub-loaded",
    "35": "driver-too-old",
    "802": "fabric-manager-down",
    "803": "driver-library-mismatch",
    "804": "driver-library-mismatch",
}
_NUMBERED = (
    *(
        f"{error}{sign}{code}"
        for error in ("error", "error code")
        for sign in (" ", ": ", "=", " `")
        for code in ("34", "35", "80")
    ),
    *(f"{error}{space}80" for error in ("错误", "错误码", "错误代码", "エラー", "오류", "ошибка") for space in ("", " ", "** ")),
)


def _cause(code: str) -> Fields:
    def fields(match: "re.Match[str]") -> dict[str, str] | None:
        before = match.string[max(match.start() - 24, 0) : match.end()]
        if _HYPOTHETICAL.search(match[0]) or _WISHED.search(before) or _DENIED.search(match.string[: match.start()]):
            return None
        if _GENERAL.match(match.string, match.end()) or (code in _PASSED_OVER and _WITHOUT.search(match.string)):
            return None
        return {"cause": code}

    return fields


def _numbered(match: "re.Match[str]") -> dict[str, str] | None:
    """Other programs number their errors, too."""
    about = re.search(r"(?i)cuda|cuinit|gpu|driver|nvidia|forward|驱动|兼容", match.string)
    return {"cause": _RESULTS[match["code"]]} if about else None


def _without_wheels(match: "re.Match[str]") -> dict[str, str] | None:
    """For another kind of machine, where the text names one; else for this Python."""
    machine = re.search(r"(?i)\baarch64|\barm(?:64|v\d)?\b|musl|alpine|ppc64le", match.string)
    return {"cause": "platform-unsupported" if machine else "python-unsupported"}


def _near(code: str, musts: tuple[str, ...], subject: str, after: str, before: str = "") -> Pattern:
    """``subject``, then ``after`` within a few words; or ``before`` in front of it."""
    pattern = rf"(?i:{subject})[^\n.;|。，、]{{0,24}}?(?i:{after})"
    if before:
        pattern += rf"|(?i:{before})[^\n.;|。，、]{{0,16}}?(?i:{subject})"
    return Pattern(KIND, musts, ascii_words(pattern), _cause(code))


PATTERNS = (
    Pattern(
        KIND,
        _NUMBERED,
        r"(?i:\berror|错误|エラー|오류|ошибк\w{1,4})(?i: ?code|代码|码|コード| ?코드)?\W{1,6}"
        rf"(?P<code>{'|'.join(_RESULTS)})\b(?!\.\d)",
        _numbered,
    ),
    _near(
        "cuda-stub-loaded",
        ("stub",),
        r"\b(?:CUDA(?: driver)?|libcuda(?:\.so[.\d]*)?|driver) stubs?\b|\bstub libcuda\S*|/stubs/libcuda\S*",
        r"\b(?:loaded|shadow\w*|wins|picked|found first|used|instead)\b",
    ),
    _near(
        "wsl-misconfigured",
        ("wsl",),
        r"\bGPU\b|\bnvidia-smi\b|\bCUDA\b",
        rf"(?:{ABSENT})[^\n.;|]{{0,16}}\bWSL|\bWSL ?[12]?\b[^\n.;|]{{0,16}}(?:{ABSENT})",
        rf"\bWSL ?[12]?\b(?=[^\n.;|]{{0,16}}\b(?:GPU|CUDA|nvidia-smi)\b[^\n.;|]{{0,16}}(?:{ABSENT}))",
    ),
    _near("wsl-misconfigured", ("wsl",), r"\bLinux(?: NVIDIA)?(?: display| GPU)? drivers?\b", r"\binside (?:of )?WSL"),
    _near(
        "devices-hidden",
        ("cuda_visible_devices",),
        r"\bCUDA_VISIBLE_DEVICES\b",
        r"\b(?:empty|overwritten|modified|hid(?:es|den)|wrong|invalid)\b"
        r"|为空|空字符串|空文字|빈 (?:문자열|값)|пуст\w+|\bvac[íi]\w+|\bleer\b|\bvide\b",
    ),
    _near(
        "driver-not-loaded",
        ("nvidia module", "kernel module", "nvidia.ko"),
        _MODULE,
        rf"\b(?:not|n't)(?: \w+)? (?:loaded|built|running)\b|\bfail(?:s|ed) to load\b|{ABSENT}",
    ),
    _near("driver-not-loaded", _DRIVERS, _DRIVER, r"\b(?:not|n't)(?: \w+)? (?:loaded|running)\b|未加载|没有加载|未运行"),
    _near("driver-too-old", _DRIVERS, _DRIVER, OLD, r"\b(?:too old|outdated|old|older|obsolete)\b"),
    _near("driver-library-mismatch", (*_DRIVERS, "驱动版本"), rf"{_DRIVER}|驱动(?:程序)?(?:和|与)?(?:库)?的?版本", UNFIT),
    _near("driver-missing", _DRIVERS, _DRIVER, ABSENT, ABSENT_BEFORE),
    _near(
        "cudnn-version-mismatch", ("cudnn",), r"\bcuDNN\b ?(?:的)?(?: ?version\w*|版本|버전|バージョン|верси\w+| versión)?", UNFIT
    ),
    _near("cudnn-missing", ("cudnn",), r"\b(?:lib)?cuDNN\b(?: (?:library|libraries|DLLs?|files?))?", ABSENT, ABSENT_BEFORE),
    _near(
        "cuda-version-mismatch",
        (
            *("cuda version", "cuda版本", "cuda 版本", "cuda 버전", "cudaバージョン", "cudaのバージョン", "версия cuda"),
            *("versión de cuda", "cuda toolkit version", "cuda runtime version"),
        ),
        r"\bCUDA(?: toolkit| runtime)? ?(?:的|の)?(?:versions?|版本|버전|バージョン)|верси\w+ CUDA|versi[óo]n de CUDA",
        UNFIT,
        r"\bmismatch\w*|\bincompatible\b|\bwrong\b",
    ),
    _near(
        "cuda-libraries-missing",
        (
            *("cuda lib", "cuda runtime", "cuda toolkit", "cuda dll", "cublas", "cudart"),
            *("cuda 库", "cuda库", "cuda工具包", "cuda 라이브러리"),
        ),
        r"\bCUDA (?:runtime(?: librar\w+)?|toolkit|librar\w+|libs|DLLs?)\b|\b(?:cuBLAS|cudart)\b"
        r"|\bCUDA ?(?:运行时?库|库|工具包|라이브러리|ライブラリ)",
        ABSENT,
        ABSENT_BEFORE,
    ),
    _near(
        "cuda-libraries-unreachable",
        ("ld_library_path",),
        r"\bLD_LIBRARY_PATH\b",
        r"\b(?:not|n't)(?: \w+)? (?:set|include|contain|point)\w*|\bunset\b|\bmissing\b|未设置|没有设置|未包含",
        r"\b(?:not|n't) (?:on|in)\b",
    ),
    _near(
        "container-without-gpu",
        ("container toolkit", "container-toolkit", "--gpus", "nvidia-docker", "nvidia runtime", "without --nv"),
        r"\bNVIDIA[- ]?(?:container[- ]?(?:toolkit|runtime)|docker\d?|runtime)\b|--gpus(?:[ =]all)?\b|(?<!\w)--nv(?![\w-])",
        rf"{ABSENT}|\b(?:not|n't)(?: \w+)? (?:configured|passed|set|registered|enabled|working)\b",
        rf"{ABSENT_BEFORE}|\bwithout\b",
    ),
    _near(
        "tensorflow-cpu-build",
        ("cpu-only", "cpu only", "cpu版", "cpu 版", "cpu 버전", "cpuのみ", "+cpu"),
        r"\b(?:torch|PyTorch|TensorFlow|JAX(?:lib)?)\b",
        r"(?:is |was |的|는|은|が)?(?:\W{0,3}\b(?:the|a|installed as|compiled as))*"
        r" ?CPU(?:[- ]only|[ -]?版本?|[ -]?버전|のみ)|\d\+cpu\b",
        r"\bCPU[- ]only (?:build|version|wheel|install\w*)? ?(?:of)?|CPU ?版本?的?|CPU ?버전",
    ),
    _near(
        "tensorflow-cpu-build",
        ("cpu-only", "cpu only"),
        r"\b(?:using|installed|have|has|got|is|was) (?:a |the )",
        r"CPU[- ]only (?:build|version|binary|wheel|torch|PyTorch|TensorFlow)\b",
    ),
    _near(
        "tensorflow-not-installed",
        (
            *("tensorflow is not", "tensorflow was not", "tensorflow isn't", "tensorflow not", "missing tensorflow"),
            *(
                "find tensorflow",
                "tensorflow未",
                "tensorflow 未",
                "没有安装tensorflow",
                "没有安装 tensorflow",
                "tensorflow 미설치",
            ),
            *("tensorflow가 설치", "tensorflowがインストール", "tensorflow не"),
        ),
        r"(?<![\w/.-])TensorFlow(?: \d[\d.]*)?(?: (?:package|module|library))?",
        r"(?:\b(?:is|was)? ?(?:not|n't) (?:installed|found)\b|未安装|没有安装|미설치|설치되지 않|インストールされていない"
        r"|не установлен)",
        r"\b(?:missing|cannot find|can't find) (?:dependency |package |module )?|没有安装|未安装",
    ),
    _near(
        "python-unsupported",
        ("python 3", "python3", "python版本", "python 版本", "python 버전"),
        r"\bPython ?3\.\d+\+?",
        rf"(?:{UNSUPPORTED}|\btoo new\b|\bno (?:pre-?built )?wheels?\b)[^\n.;|]{{0,24}}?\b(?:TensorFlow|torch|PyTorch|JAX)",
        r"\b(?:TensorFlow|PyTorch|torch(?:\.compile)?|Dynamo|JAX)\b"
        rf"[^\n.;|]{{0,24}}?(?:{UNSUPPORTED}|\bno (?:pre-?built )?wheels? for\b)",
    ),
    Pattern(
        KIND,
        ("wheel",),
        r"(?i:\bno (?:pre-?built )?(?:TensorFlow|torch|PyTorch|JAX) wheels?\b"
        r"|\b(?:TensorFlow|torch|PyTorch|JAX) has no (?:\w+ )?wheels?\b)",
        _without_wheels,
    ),
    _near(
        "macos-no-cuda",
        ("on macos", "on mac ", "on a mac", "on apple", "macos 不", "macos不"),
        r"\bCUDA\b",
        r"\b(?:not|n't) (?:available|supported)\b[^\n.;|]{0,8}\bon (?:a )?(?:macOS|Mac|Apple)\b",
        r"\bmacOS ?不支持",
    ),
    _near(
        "windows-native-unsupported",
        ("on windows", "for windows", "native windows", "windows 不", "windows不", "windows 上", "windows에서", "windowsで"),
        r"\bTensorFlow\b(?=[^\n|]{0,80}GPU)|\bGPU(?: support)?\b(?=[^\n|]{0,80}TensorFlow)",
        rf"{_WINDOWS}[^\n.;|]{{0,40}}\bWindows|Windows[^\n.;|]{{0,40}}{_WINDOWS}",
    ),
    _near(
        "no-nvidia-gpu",
        (
            *("nvidia gpu", "usable gpu", "compatible gpu", "suitable gpu", "supported gpu", "cuda device", "cuda gpu", "n卡"),
            *("cuda-capable", "nvidia 显卡", "nvidia显卡", "nvidia graphics", "supporting cuda", "support cuda"),
        ),
        r"\b(?:NVIDIA|CUDA)(?:[- ](?:capable|compatible|enabled))? (?:GPUs?|devices?|graphics cards?|cards?)|NVIDIA ?显卡|N卡"
        r"|\b(?:usable|compatible|suitable|supported) GPUs?\b|\bdevices?(?:\(s\))? (?:that )?support(?:ing)? CUDA",
        ABSENT,
        ABSENT_BEFORE,
    ),
    _near(
        "gpu-too-new",
        ("too old for",),
        r"\btoo old for (?:this|the|your|my|an?) ",
        r"(?:\w+ )?(?:GPU|graphics card|card|device)\b",
    ),
    _near("gpu-too-new", ("too new",), r"\b(?:GPU|card|Blackwell|Hopper|RTX ?\d{4}\w*)\b", r"\btoo new\b"),
    _near("gpu-too-old", ("too old",), r"\b(?:GPU|graphics card|card)\b", r"\btoo old\b"),
    _near(
        "gpu-too-old",
        ("kepler", "maxwell", "pascal", "volta", "fermi", "gtx"),
        r"\b(?:Fermi|Kepler|Maxwell|Pascal|Volta)\b|\bGTX[- ]?\d\w*",
        _DROPPED,
        _DROPPED_BEFORE,
    ),
    _near(
        "gpu-too-old",
        ("compute", "cuda arch", "sm_"),
        r"\b(?:compute capability|CUDA arch\w{0,12}|sm_)[ \d.x]{0,12}",
        NO_LONGER,
        _DROPPED_BEFORE,
    ),
    _near(
        "gpu-too-new",
        ("blackwell", "rtx 50", "rtx50", "hopper"),
        r"\bBlackwell\b|\bRTX ?50\d?\d?\w*|\bHopper\b",
        UNSUPPORTED,
        _NO_KERNELS,
    ),
    _near(
        "gpu-unfit",
        ("rtx", "compute capability", "sm_"),
        r"\bRTX ?\w{0,8}\d{4}\w{0,8}|\b(?:sm_|compute capability )\d[\d.]{0,8}",
        UNSUPPORTED,
        _NO_KERNELS,
    ),
)
