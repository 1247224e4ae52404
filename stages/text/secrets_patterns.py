"""What secrets look like: for each kind a pattern over bytes, the group that is replaced, and the check that decides.

Prefixes and lengths are those that the issuers document or that their tokens have (GitHub: "Behind GitHub's new
authentication token formats", 2021; GitLab token prefixes; Stripe, Slack, npm and PyPI likewise; AWS: access key
identifiers); the generic kinds follow detect-secrets' keyword and entropy detectors (Shannon entropy of base64 above
4.5 of at most 6 bits there; here it depends on the length, since 20 characters cannot reach 4.5).
"""

import base64
import binascii
import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class SecretPattern:
    """`hint` must be in a text that has one; `group` of `pattern` is what is replaced if `check(value)` holds."""

    kind: str
    hint: str
    pattern: str
    group: int
    check: Callable[[bytes], bool]


_PLACEHOLDER = re.compile(
    rb"example|sample|dummy|placeholder|change[-_]?me|your[-_]|[-_]your|my[-_]?(?:password|secret|token|key|pass)|"
    rb"insert|replace|redacted|fake|foobar|test[-_]?(?:key|token|secret|pass)|not[-_]?a?[-_]?(?:real|secret)|"
    rb"xxx|\*\*\*|\.\.\.|<|>|\$\(|%\(|%s|\{|0{6}|1234567|abcdef|deadbeef|qwerty|lorem",
    re.IGNORECASE,
)
_UUID = re.compile(rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(rb"[0-9a-f]+|[0-9A-F]+")
_WORDS = re.compile(rb"[A-Za-z]+[0-9]*(?:[-_./: ](?:[A-Za-z]+[0-9]*|[0-9]{1,4}))*")
_CODE = re.compile(rb"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)\w+|\(.*\)|\[.*\])+;?")
_PATH = re.compile(rb"(?:[a-z]+:)?//|[./~\\]|[A-Za-z]:\\|@|[\w\-]+:[\w\-]*:")


def is_no_placeholder(value: bytes) -> bool:
    """Not an example, a template or a word for a secret; at least six different characters."""
    return not _PLACEHOLDER.search(value) and len(set(value)) >= 6


def is_random(value: bytes) -> bool:
    """16 characters or more; no placeholder, UUID, hexadecimal number (a hash, mostly), path, identifier or words; two
    kinds of characters, one of them digits; the entropy of its length.

    The limit is 75 % of what as many random characters can have: 3.0 bits for 16, 3.75 for 32, 4.5 for 64.
    """
    if len(value) < 16 or not is_no_placeholder(value) or _UUID.search(value) or _PATH.match(value):
        return False
    if _HEX.fullmatch(value):
        return False
    if _WORDS.fullmatch(value) or _CODE.fullmatch(value) or _classes(value) < 2 or not any(map(_is_digit, value)):
        return False
    return entropy_bits(value) >= 0.75 * math.log2(min(len(value), 64))


def is_key(value: bytes) -> bool:
    """As `is_random`, but hexadecimal ones of 32 or more count: what is assigned to `api_key` is no hash."""
    if _HEX.fullmatch(value) and len(value) >= 32:
        return is_no_placeholder(value) and entropy_bits(value) >= 3.0
    return is_random(value)


def is_password(value: bytes) -> bool:
    """No placeholder, at least eight characters of three kinds."""
    if len(value) < 8 or _CODE.fullmatch(value) or _PATH.match(value):
        return False
    return is_no_placeholder(value) and _classes(value) >= 3


def is_url_password(value: bytes) -> bool:
    """No placeholder or variable, no bare word."""
    return is_no_placeholder(value) and _classes(value) >= 2 and not value.startswith((b"$", b"%", b"{", b":"))


def is_jwt(value: bytes) -> bool:
    """Its first part is a JSON object with `alg` (RFC 7515)."""
    head = value.partition(b".")[0]
    try:
        found = json.loads(base64.urlsafe_b64decode(head + b"=" * (-len(head) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "alg" in found


def entropy_bits(value: bytes) -> float:
    """Shannon entropy of the bytes, in bits a byte."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _is_digit(byte: int) -> bool:
    return 48 <= byte < 58


def _classes(value: bytes) -> int:
    """How many of lower case, capitals, digits, others there are."""
    text = value.decode("latin-1")
    lower, upper = any("a" <= c <= "z" for c in text), any("A" <= c <= "Z" for c in text)
    digit = any("0" <= c <= "9" for c in text)
    return lower + upper + digit + any(not c.isascii() or not c.isalnum() for c in text)


def _token(kind: str, hint: str, pattern: str) -> SecretPattern:
    """A token with a prefix of its own, standing as a word."""
    whole = rf"(?:^|[^A-Za-z0-9_\-])({pattern})(?:$|[^A-Za-z0-9_\-])"
    return SecretPattern(kind, hint, whole, 1, is_no_placeholder)


_QUOTED = r"[\"'`]([^\"'`\s\x00-\x1f\x7f-\xff]{8,200})[\"'`]"
_ASSIGNED = r"[\"']?\]?\s*(?:=>|:=|=|:)\s*(?:[bruf]{1,2})?"
_NAME_END = r"[a-z0-9_\-]{0,24}"
_KEY_WORDS = r"(?:api|access|auth|account|client|consumer|encryption|secret|service|shared|storage|signing)[_\-.]?key"
_SECRET_WORDS = r"client[_\-.]?secret|app[_\-.]?secret|secret|token|passphrase|credentials?"
_PASS_WORDS = r"passw(?:or)?d|pwd|passwort"

_ENV_WORDS = r"(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY)"

PATTERNS: tuple[SecretPattern, ...] = (
    _token("aws_key", r"A(?:KIA|SIA|BIA|CCA|3T)", r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}"),
    SecretPattern(
        "aws_secret",
        r"(?i:aws|s3)",
        r"(?i:(?:aws|s3)[a-z0-9_\- .]{0,24}(?:secret|key)[a-z0-9_\- .]{0,24})[\"']?\s*(?:=>|:=|=|:)\s*[\"']?"
        r"([A-Za-z0-9/+]{40})(?:$|[^A-Za-z0-9/+=])",
        1,
        is_random,
    ),
    _token("google_key", r"AIza|GOCSPX|ya29\.", r"AIza[0-9A-Za-z_\-]{35}|GOCSPX-[\w\-]{28}|ya29\.[\w\-]{40,400}"),
    SecretPattern("azure_key", r"AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)", 1, is_no_placeholder),
    _token("azure_secret", r"Q~", r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}"),
    _token("github_token", r"gh[pousr]_|github_pat_", r"gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{60,255}"),
    _token("gitlab_token", r"gl[a-z]{2,5}-", r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas)-[A-Za-z0-9_\-]{20,64}"),
    _token("slack_token", r"xox|xapp-", r"xox[abeoprs](?:\.xox[abp])?-[A-Za-z0-9\-]{10,250}|xapp-[0-9]-[\w\-]{20,200}"),
    SecretPattern(
        "slack_webhook",
        r"hooks\.slack\.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/]{20,100})",
        1,
        is_no_placeholder,
    ),
    _token(
        "stripe_key",
        r"[srp]k_(?:live|test)_|whsec_",
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}|whsec_[A-Za-z0-9+/=]{32,80}",
    ),
    _token("npm_token", r"npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("pypi_token", r"pypi-", r"pypi-AgE[A-Za-z0-9_\-]{50,1000}"),
    _token(
        "ai_token",
        r"sk-|hf_",
        r"sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-(?:proj|svcacct|admin)-[\w\-]{40,200}|"
        r"sk-ant-[a-z0-9]{3,8}-[\w\-]{80,120}|hf_[A-Za-z]{34}",
    ),
    _token("sendgrid_key", r"SG\.", r"SG\.[\w\-]{22}\.[\w\-]{43}"),
    _token("digitalocean_token", r"do[opr]_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("shopify_token", r"shp(?:at|ca|pa|ss)_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _token("telegram_token", r":AA[A-Za-z0-9_\-]{33}", r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{33}"),
    SecretPattern(
        "jwt",
        r"eyJ[A-Za-z0-9_\-]*\.eyJ",
        r"(?:^|[^A-Za-z0-9_\-.])(eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{16,})",
        1,
        is_jwt,
    ),
    SecretPattern(
        "url_password",
        r"://[^/\s:@\"'<>]*:[^/\s:@\"'<>]+@",
        r"[A-Za-z][A-Za-z0-9+.\-]*://[^/\s:@\"'<>`]{1,64}:([^/\s:@\"'<>`\x00-\x1f\x7f-\xff]{6,128})@[A-Za-z0-9\[]",
        1,
        is_url_password,
    ),
    SecretPattern(
        "key", rf"(?i:{_KEY_WORDS}|apikey)", rf"(?i:(?:{_KEY_WORDS}){_NAME_END}){_ASSIGNED}{_QUOTED}", 1, is_key
    ),
    SecretPattern(
        "secret", rf"(?i:{_SECRET_WORDS})", rf"(?i:(?:{_SECRET_WORDS}){_NAME_END}){_ASSIGNED}{_QUOTED}", 1, is_random
    ),
    SecretPattern(
        "password", rf"(?i:{_PASS_WORDS})", rf"(?i:(?:{_PASS_WORDS}){_NAME_END}){_ASSIGNED}{_QUOTED}", 1, is_password
    ),
    SecretPattern(
        "env_secret",
        _ENV_WORDS,
        rf"(?m:^[ \t]*(?:export[ \t]+|-[ \t]+|set[ \t]+)?[A-Z0-9_]*{_ENV_WORDS}"
        r"[A-Z0-9_]*[ \t]*[=:][ \t]*([^\s\"'`#;,(){}\[\]<>$\x00-\x1f\x7f-\xff]{12,200})[ \t]*\r?$)",
        1,
        is_random,
    ),
)
"""In the order in which they are tried where several begin at one place; `private_key` stands apart in `secrets`."""


@functools.lru_cache(maxsize=1)
def kinds() -> tuple[str, ...]:
    """Every kind, `private_key` first."""
    return ("private_key", *(pattern.kind for pattern in PATTERNS))
