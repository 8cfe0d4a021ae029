"""Patterns that detect secrets by their shape or by the words around them.

A group's name is the kind of its value. Every pattern takes time proportional to the text: repetitions start at a word
boundary, or are bounded. ``tests/redaction`` measures that.
"""

import re
from typing import NamedTuple

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,252}[A-Za-z0-9])?"
_PERSON = r"[A-Za-z_][\w.-]{0,62}\w"
_VALUE = r"(?:\\{1,4}[\"'][^\"'\n\\]{1,4096}|\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s\"']+)"


class Shape(NamedTuple):
    """One pattern, searched only in texts that contain one of its literals."""

    literals: tuple[str, ...]  # in lower case; empty: every text is searched
    regex: re.Pattern[str]


def _shape(literals: str, regex: str, flags: int = re.IGNORECASE) -> Shape:
    return Shape(tuple(literals.split("|")) if literals else (), re.compile(regex, flags))


# Prefixes of tokens that services issue, in the formats that the services document.
#
# A token needs no keyword before it. The list has only unambiguous formats: a prefix with enough random characters after it.
# Documented for instance by GitHub ("Behind GitHub's new authentication token formats"), GitLab ("Token overview"), Slack ("Token
# types"), AWS ("IAM identifiers"), Stripe ("API keys"), HashiCorp ("Vault tokens"), Grafana ("Service account tokens"),
# Databricks, npm, PyPI, Docker, Shopify, DigitalOcean, Hugging Face, NVIDIA NGC.
# Compared with the rules of gitleaks (github.com/gitleaks/gitleaks, MIT license, b58d3f1) and detect-secrets 1.5.0
# (github.com/Yelp/detect-secrets, Apache-2.0): docs/trust.md has the comparison and the rules that are not covered. Nothing is
# copied from either.

# Followed by letters and digits only: with an underscore it would be the name of a program or variable.
_ALPHANUMERIC = """
ghp_ gho_ ghu_ ghs_ ghr_ hf_ api_org_ npm_ rubygems_ dckr_pat_ dckr_oat_ pk_live_ whsec_
dop_v1_ doo_v1_ dor_v1_ lin_api_ ntn_ figd_ ATATT3x ATCTT3x ATBB dkea shpat_ shpca_ shppa_ shpss_ pnu_ rdme_ r8_ gsk_ KGAT_
wandb_v1_ rpa_ sbp_ sb_secret_ nfp_ vcp_ AKCp LTAI AKID bkua_ sqp_ squ_ sqa_ sgp_ tfp_ EZAK EZTK aio_ glc_ AQVN
shippo_live_ shippo_test_ figu_ zpka_ dnkey_ sntryu_ pcsk_ lsv2_pt_ lsv2_sk_ pscale_tkn_ pscale_pw_ pscale_oauth_ glsa_ ops_eyJ
CCIPAT_ sntrys_ tgp_v1_ hvs. hvb. hvr. fm1r_ fm2_ HRKU- NRAK- NRJS- NRII- PMAK- pul- p8e- CLOJARS_ duffel_test_ duffel_live_
sm_aat_ sm_pat_ sm_sat_ glffct- tk-us- fm1a_
"""
# Followed by text that may also contain a hyphen, an underscore or a dot.
_PUNCTUATED = """
github_pat_ glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- GR1348941
xapp- xoxe. sk-proj- sk-ant- sk-svcacct- sk-or- AIza ya29. GOCSPX- nvapi- pypi- SG. dp.pt. dp.st. dp.ct. dp.sa. sq0atp- sq0csp-
EAAA pplx- xai- tskey- dt0c01. dt0s01. xkeysib- xsmtpsib- CFPAT- ico- fio-u- FLWSECK- FlyV1 sha256~ AGE-SECRET-KEY-1 PRIVATE-KEY-
FLWPUBK- FLWPUBK_TEST- bedrock-api-key- sk-admin- fo1_
"""
_LEAST = 16  # minimum random characters of a token


def _any_of(prefixes: str) -> str:
    return "|".join(re.escape(prefix) for prefix in sorted(prefixes.split(), key=len, reverse=True))


TOKENS = re.compile(
    rf"(?<![A-Za-z0-9])(?:(?:{_any_of(_ALPHANUMERIC)})(?:[A-Za-z0-9]{{{_LEAST},}}(?:[_-][A-Za-z0-9]{{8,}}){{0,4}})"
    rf"|(?:{_any_of(_PUNCTUATED)})[\w.~-]{{{_LEAST},}}"
    r"|sk-[A-Za-z0-9]{20,}|key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}"  # OpenAI, Mailgun, Mailchimp
    r"|(?:SK|AC|dapi|cio)[0-9A-Za-z]{32}"  # Twilio, Databricks, crates.io
    r"|A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"  # AWS
    r"|A3T[A-Z0-9]{17}|FLWSECK_TEST-[\w-]{12,}|API-[A-Z0-9]{26}"  # AWS, Flutterwave, Octopus
    r"|A3-[A-Z0-9]{6}-[A-Z0-9]{6,11}(?:-[A-Z0-9]{5}){3,4}|[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"  # 1Password, MaxMind
    r"|[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}"  # Harness, Terraform
    r"|(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][\w.+/=-]{30,160}"  # Authress
    r"|[sr]k_(?:live|prod|test)_[A-Za-z0-9]{10,}|xox[abeoprs]-[\w-]{10,}"  # Stripe, Slack
    r"|s\.(?=[A-Za-z]{0,23}\d)(?=[a-z\d]{0,23}[A-Z])[A-Za-z0-9]{24}(?![\w.])"  # Vault before 1.10
    r"|\d{15,16}(?:\||%)[0-9A-Za-z]{27,40}"  # Facebook's applications
    r"|\d{8,10}:AA[\w-]{30,}|bot\d{8,10}:[\w-]{30,}"  # Telegram
    r"|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}"  # Discord
    r"|\w{3}\dQ~[\w.~-]{31,}"  # Azure's applications
    r"|(?<![\w-])eyJ[\w-]{8,}(?:\.[\w-]+){1,4}"  # JSON Web Tokens
    r"|AAAA[BC]3Nza[A-Za-z0-9+/]{16,}={0,2})"  # keys of SSH
)

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

# All others are redacted only at the match.
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
