"""Lines that announce a secret, generated here so that no file contains text that looks like a secret."""

import pathlib
import random
import re
import string

_CHOICE = random.Random(4711)
_LETTERS = {
    "alnum": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "digits": string.digits,
    "base64_": string.ascii_letters + string.digits + "+/",
}
_VALUES = {
    "ip4": "10.21.32.43",
    "ip4b": "203.0.113.99",
    "ip6": "fe80::a00:27ff:fe4e:66a1",
    "mac": "02:42:ac:1f:5b:9d",
    "mac_dash": "02-42-AC-1F-5B-9D",
    "mac_long": "80:00:02:08:fe:80:00:00:00:00:00:00:ec:0d:9a:03:00:aa:bb:cc",
    "email": "annika.s@mail.sekretlab.org",
    "host": "gpu17.sekretlab.net",
    "short_host": "sekret-gpu17",
    "other_host": "sekret-gpu18",
    "plain_host": "brunhilde",
    "user": "annika",
    "other_user": "brunhilda",
    "folder": "falcon-acme",
    "other_folder": "wotan",
    "serial": "1320220012345",
    "uuid": "8932f937-d72c-4106-c12f-20bd9faed9f6",
    "password": "Hunt" + "er2-x",
    "p": "p",
    "o": "o",
}
_NO_SECRETS = {"p", "o"}


def lines():
    """Yield each line with the secrets in it."""
    for template in (pathlib.Path(__file__).parent / "announced.txt").read_text(encoding="utf-8").splitlines():
        names = set(re.findall(r"(?<!\{)\{(\w+)\}", template))
        values = {name: _value(name) for name in sorted(names)}
        yield template.format(**values), [values[name] for name in names - _NO_SECRETS]


def _value(name):
    if name in _VALUES:
        return _VALUES[name]
    kind, length = re.fullmatch(r"([a-z]+(?:64_)?)(\d+)b?", name).groups()
    return "".join(_CHOICE.choices(_LETTERS[kind], k=int(length)))
