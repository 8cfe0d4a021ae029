"""What gives away a machine, a person or an account: fields and variables by their names, texts by their shape."""

import re

# Names that identify nobody, and words of this field: a user called "keras" is found in paths only.
WORDS = """
root user users admin ubuntu debian centos fedora runner nobody daemon wheel video render host hostname localhost home
docker podman container worker chief ps cuda gpu gpus cpu tpu nvidia keras tensorflow python linux windows darwin macos
test train training model models data local system default node none true false null unknown secret token value serial
uuid email guid mac ip id the and for not passed failed skipped error warning driver kernel library memory device name
jupyter jovyan colab vscode app bin lib usr opt var tmp etc dev proc sys mnt share
info debug trace notice warn fatal critical unable invalid failure please
port address addr form server master coordinator client peer proxy gateway example name path folder file
data scratch work workspace content
"""
COMMON = frozenset(WORDS.split())
HOST_FIELDS = re.compile(r"(?:^|_)(?:host|hostname|hostnames|node_name|nodename|fqdn|domain)$", re.IGNORECASE)
USER_FIELDS = re.compile(r"(?:^|_)(?:user|username|owner|login)$", re.IGNORECASE)
SERIAL_FIELDS = re.compile(r"(?:^|_)serial(?:_number)?$", re.IGNORECASE)
VERSION_FIELDS = re.compile(r"(?:version|specifier|installed)$")
HOST_VARIABLES = re.compile(r"HOSTNAME|HOSTS?$|NODELIST$|NODENAME$|_ADDR(?:ESS(?:ES)?)?$|ENDPOINTS?$|^TPU_NAME$")

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
HOST_IN_TEXT = (
    re.compile(rf"\bhost[ _]?name\s*[:=]\s*[\"']?({NAME})", re.IGNORECASE),
    re.compile(
        rf"\b(?:host|node|nodename)\s*[:=]\s*[\"']?(?=[A-Za-z0-9-]*(?:\d|[.-][A-Za-z0-9]))(?![\w.-]*[_/(])({NAME})", re.IGNORECASE
    ),  # TensorFlow says "Node: 'model/dense_1/MatMul'" of its graph's nodes
    re.compile(rf"^({NAME}):\d+:\d+ \[\d+\] (?:\[\d+\] )?NCCL ", re.MULTILINE),
    re.compile(rf"(?:grpc|tcp|ssh|nfs|smb|cifs|hdfs)://(?:[^\s/@]*@)?({NAME})"),
    re.compile(
        rf"^(?:[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d|\d{{4}}-\d\d-\d\dT\S+) ({NAME}) [\w./-]+(?:\[\d+\])?:", re.MULTILINE
    ),
    re.compile(rf"\b[a-z_][a-z0-9_-]*@(?!sha256:)({NAME}):", re.IGNORECASE),  # a shell's prompt
    re.compile(r"--(?:namespace|serviceaccount)=([a-z0-9-]+)"),  # kubectl's
)
USER_IN_TEXT = (
    re.compile(r"\b(?:user|user ?name|login|logname|owner|uid)\s*[:=]\s*[\"']?(?:\d+\()?([A-Za-z_][\w.-]*)", re.IGNORECASE),
    re.compile(r"\b([a-z_][a-z0-9_-]*)@[\w-]+:[~/]"),
    re.compile(r"--serviceaccount=[a-z0-9-]+:([a-z0-9.-]+)"),
)
SERIAL_IN_TEXT = re.compile(r"\b(?:serial(?:[ _-]?(?:number|no))?|S/?N)\b\W{0,12}([A-Z0-9][A-Z0-9-]{5,})", re.IGNORECASE)
HOMES = re.compile(
    r"(?:(?<![\w.~-])|(?<=-[ILR]))(?:(?:(?<!/)(?:/[\w.+-]+){1,4}?)?/(?:home|homes|Users)/|[A-Za-z]:[\\/]+Users[\\/]+)([^\s/\\:;,\"'<>|]+)",
    re.IGNORECASE,
)
KEYED = re.compile(
    r"((?:[\w-]*(?:token|secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|signature"
    r"|session[_-]?id|sessid)"
    r"|(?:\w*_)?(?:auth|authorization|sas|sig|pwd))[\"']?\s*[=:]\s*(?:bearer |basic |token )?)([\"'][^\"']+[\"']|[^\s\"',;&]+)",
    re.IGNORECASE,
)
BEARER = re.compile(r"(\b(?:bearer|basic)\s+|--?(?:token|password|secret|api[_-]?key)\s+)([A-Za-z0-9._~+/=-]{8,})", re.IGNORECASE)
IN_URL = re.compile(r"(://)([^\s/@:]*:[^\s/@]+)(?=@)")
LOGIN = re.compile(r"(?<![^\s\"'\[(=,])([A-Za-z][\w.-]*:[^\s/@:\"',]+)(?=@(?!sha256)[\w\[])")  # "user:password@address"
COOKIE = re.compile(
    r"(\b(?:set-)?cookie[\"']?\s*[:=]\s*[\"']?)"
    r"([^\s=;,\"'<>]+=[^\s;\"']*(?:;\s*(?:[^\s=;,\"'<>/]+=[^\s;\"']*|secure\b|httponly\b))*)",
    re.IGNORECASE,
)
KEY_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
TOKENS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}"
    r"|sk-[\w-]{16,}|xox[abprs]-[\w-]{10,}|npm_\w{20,}|pypi-[\w-]{20,}|nvapi-[\w-]{16,}|eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|ya29\.[\w-]+)"
)
UUID = re.compile(r"(?<![0-9A-Za-z])(?:(GPU|MIG)-)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})", re.IGNORECASE)
SHORT_UUID = re.compile(r"(?<![0-9A-Za-z])(GPU|MIG)-([0-9a-f]{4,}(?:-[0-9a-f]+)*)(?![0-9A-Za-z])", re.IGNORECASE)
LONG_HEX = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{32,}(?![0-9A-Za-z])", re.IGNORECASE)
MAC = re.compile(r"(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])", re.IGNORECASE)
GUID = re.compile(r"(?<![\w:])(?:[0-9a-f]{4}:){3}[0-9a-f]{4}(?![\w:])", re.IGNORECASE)
IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
IPV6 = re.compile(
    r"(?<![\w:.])(?=[0-9a-f:.]*\d)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}(?:\d{0,3}(?:\.\d{1,3}){3})?(?![\w:])", re.IGNORECASE
)
VERSION_BEFORE = re.compile(r"(?:[=<>~!]=?\s?|\bv|\bversion\s+|-cu\d+\s|\b(?:cudnn|cublas|cuda|nccl|driver)\s)$", re.IGNORECASE)
EMAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
ASSIGNMENT = re.compile(r"(?<![\w$.-])([A-Z][A-Z0-9_]{2,})=(\"[^\"]*\"|'[^']*'|[^\s;,\"']+)")
