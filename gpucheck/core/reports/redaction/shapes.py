"""Patterns that detect secrets by their shape or by the words around them.

A group's name is the kind of its value. Every pattern takes time in proportion to the text: repetitions start at a word
boundary, or are bounded. ``tests/redaction`` measures that.
"""

import re
from typing import NamedTuple

from gpucheck.core.reports.redaction.services import TOKENS

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9])?"
_PERSON = r"[A-Za-z_][\w.-]{0,62}\w"
_VALUE = r"(?:\\{1,4}[\"'][^\"'\n\\]{1,4096}|\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s\"']+)"


class Shape(NamedTuple):
    """One pattern, searched only in texts that contain one of its literals."""

    literals: tuple[str, ...]  # in lower case; empty: every text is searched
    regex: re.Pattern[str]


def _shape(literals: str, regex: str, flags: int = re.IGNORECASE) -> Shape:
    return Shape(tuple(literals.split("|")) if literals else (), re.compile(regex, flags))


# Names of hosts and users: they are redacted everywhere once learned.
ANNOUNCED = (
    _shape(" nccl ", rf"^(?P<host>{NAME}):\d+:\d+ \[\d+\] (?:\[\d+\] )?NCCL ", re.MULTILINE),
    _shape("://", rf"(?:grpc|tcp|ssh|nfs|smb|cifs|hdfs|jdbc:\w{{1,20}})://(?:[^\s/@]{{0,512}}@)?(?P<host>{NAME})"),
    _shape(
        ":",
        r"^(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S{1,40})"  # syslog
        rf" (?P<host>{NAME}) [\w./-]{{1,80}}(?:\[\d+\])?:",
        re.MULTILINE,
    ),
    _shape("--names|--service", r"--(?:namespace|serviceaccount)=(?P<host>[a-z0-9-]+)(?::(?P<user>[a-z0-9.-]+))?"),  # kubectl's
    _shape(
        "connect|no route",
        r"\b(?:connect(?:ed|ing|ion)?|route) (?:to|from|with) (?:the )?(?:host|node|server|machine|peer)"
        rf"(?: at)? [\"']?(?P<host>{NAME})",
    ),
    _shape(" port ", rf"\bhost (?P<host>{NAME}) port \d"),
    _shape("resolve", rf"\bresolve (?:host(?:name)?|name|address):? [\"']?(?P<host>{NAME})"),
    _shape("ping", rf"\bping:? (?P<host>{NAME})(?: \(|:)"),
    _shape("srun|slurm|sbatch|salloc", rf"^(?:srun|slurm\w+|sbatch|salloc): \w+: (?P<machine>{NAME}): ", re.MULTILINE),
    _shape("slurmstepd-", rf"\bslurmstepd-(?P<host>{NAME}): "),
    _shape(" cancelled", rf"\bon (?P<host>{NAME}) cancelled\b"),
    _shape("host|node|machine|server", rf"\b(?:host|node|machine|server) (?:at )?[\"'(]?(?P<machine>{NAME})"),
    _shape("failure on", rf"\bfailure on (?P<machine>{NAME})"),
    _shape(
        "-h ",
        rf"\b(?:mpirun|mpiexec|horovodrun|mysql\w{{0,8}}|psql|redis-cli|mongo\w{{0,4}})\b[^|;\n]{{0,80}}? -H (?P<host>{NAME})",
    ),
    _shape(":", rf"(?<=,)(?P<machine>{NAME}):\d{{1,2}}(?![\d:])"),  # "-H host1:8,host2:8"
    _shape("tcp:", rf"=tcp:(?P<host>{NAME})"),
    _shape("ssh|scp|sftp|rsync|ping", rf"\b(?:ssh|ping|telnet|nslookup) (?:-\w (?:\w+ )?){{0,4}}(?P<machine>{NAME})(?![@\w])"),
    _shape("machine ", rf"\bmachine (?P<host>{NAME}) login (?P<user>{_PERSON})(?: password (?P<secret>\S+))?"),
    _shape("for ", rf"\bfor (?P<user>{_PERSON}) from "),
    _shape(
        "user",
        r"\b(?:for|as|by|of|from|to|invalid|unknown|another|such|when|the)(?: invalid)? user:?"
        rf" [\"'`]?(?P<user>{_PERSON})(?!\w| [a-z]+ed\b)",
    ),
    _shape("(uid=", rf"\bby (?P<user>{_PERSON})\(uid="),
    _shape("uid=", rf"\buid=\d+\((?P<user>{_PERSON})\)"),
    _shape("userid=", rf"\buserid=(?P<user>{_PERSON})\(\d"),
    _shape("password for", rf"\bpassword for [\"']?(?P<user>{_PERSON})[\"']?:(?: (?P<secret>\S+))?"),
    _shape("sudo", rf"\bsudo(?:\[\d+\])?: +(?P<user>{_PERSON}) : "),
    _shape(
        " -",
        rf"\b(?:sudo|mysql\w{{0,8}}|mariadb|login|psql|mongo\w{{0,4}}|ssh|su)\b[^|;\n]{{0,80}}? -[ul] ?(?P<user>{_PERSON})",
    ),
    _shape("chown", rf"\bchown (?:-\w+ ){{0,4}}(?P<user>{_PERSON})(?::(?P<user2>{_PERSON}))? "),
    _shape(
        "rw", rf"^[-dlcbs][-rwxst]{{9}}[.+@]? +\d+ (?P<user>{_PERSON}) +(?P<user2>{_PERSON}) +\d", re.MULTILINE | re.IGNORECASE
    ),
    _shape("sbatch|srun|salloc", rf"\b(?:sbatch|srun|salloc)\b[^|;\n]{{0,200}}? -A ?(?P<user>{_PERSON})"),
    _shape(  # squeue: job, partition, name, user, state, time, number of nodes, nodes
        ":",
        rf"^ {{0,20}}\d{{1,12}}\S{{0,12}} +\S{{1,64}} +\S{{1,64}} +(?P<user>{_PERSON}) +[A-Z]{{1,3}} +[\d:-]{{4,12}} +\d{{1,6}}"
        rf"(?: +(?P<host>{NAME}))?",
        re.MULTILINE,
    ),
    _shape(  # file systems that groups share
        "/",
        r"(?<![\w.~-])(?P<folders>/(?:lustre|gpfs|beegfs|cephfs?|weka|vast|fsx|efs|nfs|mnt|p?scratch|proj(?:ects?)?|groups?|users?|work|data)"
        r"/[^\s:;,\"'=<>|]{2,1024})",
    ),
    _shape("serial|s/n|sn", r"\b(?:serial(?:[ _-]?(?:number|no))?|S/?N)\b\W{0,12}(?P<serial>[A-Z0-9][A-Z0-9-]{5,64})"),
)

# All others, redacted only at the match.
SHAPES = (
    _shape(
        "private key",
        r"(?P<secret>-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]{0,40}-----|\Z))",
        re.DOTALL,
    ),
    _shape(
        "cookie",
        r"\b(?:set-)?cookie[\"']?\s{0,9}[:=]\s{0,9}[\"']?"
        r"(?P<secret>[^\s=;,\"'<>]{1,128}=[^\s;\"']*(?:;\s{0,9}(?:[^\s=;,\"'<>/]{1,128}=[^\s;\"']*|secure\b|httponly\b))*)",
    ),
    _shape("bearer|basic", r"\b(?:bearer|basic)\s{1,9}(?P<secret>[A-Za-z0-9._~+/=-]{8,})"),
    _shape("://", r"://(?P<secret>[^\s/@:\"']{0,256}:[^\s/\"']{1,1024})(?=@)"),
    _shape(
        "@", r"(?<![^\s\"'\[(=,])(?P<secret>[A-Za-z][\w.-]{0,256}:[^\s/@:\"',]{1,1024})(?=@(?!sha256)[\w\[])"
    ),  # user:password@address
    _shape("password", rf"\bkey=[\"']\w{{0,40}}password[\"']\s{{1,9}}value=(?P<secret>{_VALUE})"),  # NuGet's settings
    _shape(
        "curl",
        r"\bcurl\b[^|;\n]{0,200}? (?:-u|--user|--proxy-user)[ =]?"
        r"(?P<secret>\"[^\"\n]{1,512}\"|'[^'\n]{1,512}'|[^\s\"':]{1,256}:\S+)",
    ),
    _shape(
        " -",
        rf"\b(?:sshpass|mysql\w{{0,8}}|mariadb|mongo\w{{0,4}}|login|redis-cli|ldapsearch|smbclient|htpasswd|7z|unzip|zip)\b[^|;\n]{{0,120}}?"
        rf" -[paw] ?(?P<secret>{_VALUE})",
    ),
    _shape("htpasswd", rf"\bhtpasswd -\w{{0,9}}b\w{{0,9}} \S{{1,255}} (?P<user>\S{{1,64}}) (?P<secret>{_VALUE})"),
    _shape(  # PostgreSQL's passwords: address, port, database, user, password
        ":",
        rf"(?<![\w.:/*-])(?P<machine>{NAME}):\d{{4,5}}:[\w.*-]{{1,63}}:(?P<user>[\w.-]{{1,63}}):(?P<secret>[^\s:\"']{{4,256}})(?!:)",
    ),
    _shape("enter passphrase", r"\benter passphrase[^:\n]{0,200}: (?P<secret>[^\n]{4,200})"),
    _shape("arn:aws", r"\barn:aws[\w-]{0,16}:[\w-]{1,40}:[\w-]{0,40}:(?P<id>[^\s\"',;]{3,512})"),
    _shape(
        ".dkr.|account",
        r"(?<!\w)(?P<id>\d{12})(?=\.dkr\.)|\baccount(?:[ _-]?id)?[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<id2>\d{12})(?!\w)",
    ),
    _shape(" -u", rf" -u ?\S{{1,64}} -p ?(?P<secret>{_VALUE})"),
    _shape("login", r"\b(?:wandb|huggingface-cli|hf|comet|clearml) login (?P<secret>[A-Za-z0-9]\S{7,})"),
    _shape("echo", rf"\becho (?P<secret>{_VALUE}) ?\|[^|\n]{{0,80}}(?:--password-stdin|sudo -S|passwd|--with-token)"),
    _shape(
        "pass",
        r"\b(?:password|passphrase|passwd) (?:(?:is|was) )?(?P<phrase>\"[^\"\n]{4,512}\"|'[^'\n]{4,512}'|[^\s\"'=:]\S{5,})",
    ),
    _shape("auth|_key", r"(?:auth-?token|(?:api|access|secret)_key) (?:(?:is|was) )?(?P<phrase>[^\s\"']{16,})"),
    _shape("token|secret|key", r"(?:token|secret|key):? (?:(?:is|was) )?[\"']?(?P<random>[\w.~+/=-]{16,})"),
    _shape(
        "api|access|license|secret|auth", rf"\b(?:api|access|license|secret|auth|account) key ?(?:is|[:=]) ?(?P<secret>{_VALUE})"
    ),
    _shape("hook", r"https?://(?P<hook>[^\s\"'<>]{8,2048})"),
    _shape("", rf"(?P<token>{TOKENS.pattern})", 0),
    _shape("", r"(?<![\w/+.-])(?P<random>[A-Za-z0-9+]{40,}={0,2})(?![\w/+])", 0),
    _shape("sha256:", r"SHA256:(?P<id>[A-Za-z0-9+/]{43})"),  # a key's fingerprint
    _shape("", r"(?<![0-9A-Za-z])(?P<uuid>(?:(?:GPU|MIG)-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"),
    _shape("gpu-|mig-", r"(?<![0-9A-Za-z])(?P<uuid>(?:GPU|MIG)-[0-9a-f]{6,32}(?:-[0-9a-f]{1,32}){0,4})(?![0-9A-Za-z])"),
    _shape("", r"(?<![0-9A-Za-z])(?P<id>[0-9a-f]{32,})(?![0-9A-Za-z])"),
    _shape(
        "", r"(?<![\w:-])(?P<mac>[0-9a-f]{2}(?::[0-9a-f]{2}){5,19}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5,19})(?![\w-])(?!:[0-9a-f]{2})"
    ),
    _shape(".", r"(?<![\w.])(?=[\d.]{0,13}[a-f])(?P<mac>[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})(?![\w.])"),  # Cisco's
    _shape("mac|hwaddr|ether", r"\b(?:mac|hwaddr|ether)(?:[ _-]?addr(?:ess)?)?\W{1,4}(?P<mac>[0-9a-f]{12})(?!\w)"),
    _shape("guid", r"guid\W{1,4}(?P<guid>(?:0x)?[0-9a-f]{16})(?!\w)"),
    _shape(":", r"(?<![\w:])(?P<guid>(?:[0-9a-f]{4}:){3}[0-9a-f]{4})(?![\w:])"),
    _shape("::", r"(?<![\w:.])(?P<ip>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,8}(?:\d{0,3}(?:\.\d{1,3}){3})?)(?!\w)"),
    _shape(":", r"(?<![\w:.])(?P<ip>[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7})(?![\w:])"),
    _shape(".", r"(?<![\w.])(?P<ip>(?:\d{1,3}\.){3}\d{1,3})(?![\w.]{0,32}\w|-microsoft)"),
)

# "name@address": an e-mail address, a login, a shell prompt.
AT = re.compile(r"(?<![\w.+-])(?P<name>[\w.+-]{1,128})@(?P<place>[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,62}){0,8})(?P<behind>:[~/])?")
SSH = re.compile(r"\b(?:ssh|scp|sftp|rsync|mosh)\b[^|;\n]{0,80}$")
# Text after an @ that is not in an address.
VERSIONED = re.compile(r"\d+(?:\.\d+){0,2}|[A-Z][A-Z0-9_]*_[\d.]+|sha256|[\w.-]+\.service")
HOMES = re.compile(
    r"(?:(?<![\w.~-])|(?<=-[ILR]))"
    r"(?:(?:(?<!/)(?:/[\w.+-]{1,255}){1,4}?)?/(?:home|homes|Users)/|[A-Za-z]:[\\/]{1,4}Users[\\/]{1,4})([^\s/\\:;,\"'<>|]{1,255})",
    re.IGNORECASE,
)
FOLDER = re.compile(r"(?<=/)[^\s/\\:;,\"'=<>|&]{1,255}(?=[/:;,\"'\s]|$)")
# Text before four numbers that are a version, not an address.
COMPARED_BEFORE = re.compile(r"\b(?:vs\.?|runtime) $", re.IGNORECASE)  # a version, or the addresses of two hosts
VERSION_BEFORE = re.compile(
    r"(?:[<>~!=]=\s?|[<>]\s?|\bv|\bversions?[ =:]\s?|-cu\d+[ =]|(?:cudnn|cublas|cuda|nccl|driver|cu\w+|lib\w+|tensorrt)[ =])$",
    re.IGNORECASE,
)
