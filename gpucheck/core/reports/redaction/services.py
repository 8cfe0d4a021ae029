"""Prefixes of tokens that services issue, in the formats that each service documents.

A token needs no keyword before it. The list has only unambiguous formats: a prefix with enough random characters after it.
Documented for instance by GitHub ("Behind GitHub's new authentication token formats"), GitLab ("Token overview"), Slack ("Token
types"), AWS ("IAM identifiers"), Stripe ("API keys"), HashiCorp ("Vault tokens"), Grafana ("Service account tokens"),
Databricks, npm, PyPI, Docker, Shopify, DigitalOcean, Hugging Face, NVIDIA NGC.
Compared with the rules of gitleaks (github.com/gitleaks/gitleaks, MIT licence, b58d3f1) and detect-secrets 1.5.0
(github.com/Yelp/detect-secrets, Apache-2.0): docs/trust.md has the comparison and the rules that are not covered. Nothing is
copied from either.
"""

import re

# Followed by letters and digits only: an underscore would make it the name of a program or variable.
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
