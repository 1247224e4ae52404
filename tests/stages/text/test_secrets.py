"""Secrets: what is found and what it becomes, what only looks like one; characters balance; twice changes nothing."""

import base64
import time

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.manifests.errors import UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import Mapped
from gristmill.stages.text.secrets import Secrets, placeholder
from gristmill.stages.text.secrets_patterns import entropy_bits, is_jwt, is_key, is_password, is_random, kinds

# Made here from a counter, so that no scanner of repositories finds a token in this file.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def chars(count: int, alphabet: str = _ALPHABET, seed: int = 7) -> str:
    """Random-looking characters."""
    out, state = "", seed
    for _ in range(count):
        state = (state * 1103515245 + 12345) % (1 << 31)
        out += alphabet[(state >> 12) % len(alphabet)]
    return out


def pem(label: str = "RSA PRIVATE KEY", lines: int = 12) -> str:
    body = "\n".join(chars(64, seed=n + 1) for n in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def mapped(*texts: str | None, stage: Secrets | None = None) -> Mapped:
    return (stage or Secrets()).transform(document_batch({"text": pa.array(texts, pa.large_string())}))


def masked(text: str) -> str:
    return mapped(text).batch.column("text")[0].as_py()


JWT = ".".join(
    [
        base64.urlsafe_b64encode(b'{"alg":"HS256"}').decode().rstrip("="),
        base64.urlsafe_b64encode(b'{"sub":"someone"}').decode().rstrip("="),
        chars(43),
    ]
)
FOUND = [
    ("aws_key", "id = '{}'", "AKIA" + chars(16, "ABCDEFGHJKLMNPQRSTUVWXYZ234567")),
    ("github_token", "{}", "ghp_" + chars(36)),
    ("gitlab_token", "curl -H 'T: {}'", "glpat-" + chars(20)),
    ("slack_token", "{}", "xoxb-" + chars(12, "0123456789") + "-" + chars(24)),
    ("slack_webhook", "https://hooks.slack.com/services/{}", "T" + chars(8) + "/B" + chars(8) + "/" + chars(24)),
    ("stripe_key", "{};", "sk_" + "live_" + chars(24)),
    ("google_key", "key={}", "AIza" + chars(35)),
    ("npm_token", "//registry/:_authToken={}", "npm_" + chars(36)),
    ("pypi_token", "{}", "pypi-AgE" + chars(80)),
    ("azure_key", "AccountKey={};x", chars(86) + "=="),
    ("aws_secret", 'aws_secret_access_key = "{}"', chars(40)),
    ("ai_token", "{}", "hf_" + chars(34, _ALPHABET[:52])),
    ("azure_secret", "{}", chars(3) + "8Q~" + chars(34)),
    ("sendgrid_key", "{}", "SG." + chars(22) + "." + chars(43)),
    ("digitalocean_token", "{}", "dop_v1_" + chars(64, "0123456789abcdef")),
    ("shopify_token", "{}", "shpat_" + chars(32, "0123456789abcdef")),
    ("telegram_token", "{}", chars(9, "123456789") + ":AA" + chars(33)),
    ("jwt", "Authorization: Bearer {}", JWT),
    ("url_password", "postgres://me:{}@db.host/x", "p4ssw0rdX"),
    ("key", 'api_key = "{}"', chars(32)),
    ("key", '"api-key": "{}"', chars(32, "0123456789abcdef")[:31] + "7"),
    ("secret", "client_secret: '{}',", chars(24)),
    ("password", "password='{}'", "S3cr3t!pa55"),
    ("env_secret", "export DB_PASSWORD={}\n", chars(20)),
]


@pytest.mark.parametrize(("kind", "around", "value"), FOUND)
def test_what_is_found(kind: str, around: str, value: str) -> None:
    found = mapped("é\n" + around.format(value) + " 中")
    assert found.batch.column("text")[0].as_py() == "é\n" + around.format(placeholder(kind).decode()) + " 中"
    assert found.measures[f"secret_{kind}"].tolist() == [1]
    assert found.measures["secrets"].tolist() == [1]
    assert found.cut_chars["secret"].tolist() == [len(value)]
    assert found.cut_chars["secret_placeholder"].tolist() == [-len(placeholder(kind))]


def test_every_kind_has_a_case() -> None:
    assert {kind for kind, *_ in FOUND} | {"private_key"} == set(kinds())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "AKIAIOSFODNN7EXAMPLE",
        "xAKIA" + chars(16, "ABCDEFGHJKLMNPQRSTUVWXYZ234567"),
        "ghp_" + "x" * 36,
        "ghp_" + chars(35),
        "password = 'your_password_here'",
        "password = 'correct horse'",
        "password = 'changeme'",
        "password = os.environ['DB_PASSWORD']",
        "password = '${DB_PASSWORD}'",
        "token_type = 'quoted-string-of-words'",
        "token = '123e4567-e89b-12d3-a456-426614174000'",
        "secret = 'd41d8cd98f00b204e9800998ecf8427e'",
        "secret_path = '/etc/ssl/private/Key1.pem'",
        "secret = f'{user}@{host}/Key1234'",
        "api_key = 'self.config.get_key(1)'",
        "PASSWORD_MIN_LENGTH=12\nTOKEN_EXPIRES=3600000000000",
        "postgres://user:${PASSWORD}@host postgres://user:password@host",
        "x = '-----BEGIN PRIVATE KEY-----' + body + '-----END PRIVATE KEY-----'",
        "-----BEGIN PUBLIC KEY-----\n" + chars(64) + "\n-----END PUBLIC KEY-----",
        "eyJhbGciOiJI.eyJ" + "a" * 20 + "." + "b" * 20,
        "sha256 = '" + chars(64, "0123456789abcdef") + "'",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert masked(text) == text


def test_private_keys() -> None:
    one = "a = 1\n" + pem() + "\nb = 2"
    assert masked(one) == "a = 1\n<SECRET_PRIVATE_KEY>\nb = 2"
    assert masked(pem("OPENSSH PRIVATE KEY") + pem("PRIVATE KEY")) == "<SECRET_PRIVATE_KEY>" * 2
    assert masked(pem("PGP PRIVATE KEY BLOCK")) == "<SECRET_PRIVATE_KEY>"


def test_a_private_key_in_a_string_literal() -> None:
    escaped = pem().replace("\n", "\\n")
    assert masked(f'key = "{escaped}"') == 'key = "<SECRET_PRIVATE_KEY>"'


def test_a_private_key_that_is_cut_off() -> None:
    cut = pem().partition("\n-----END")[0]
    assert masked(cut + "\nprose follows") == "<SECRET_PRIVATE_KEY>\nprose follows"


def test_a_header_without_key_hides_none() -> None:
    assert masked("'-----BEGIN PRIVATE KEY-----'\n" + pem()) == "'-----BEGIN PRIVATE KEY-----'\n<SECRET_PRIVATE_KEY>"


def test_drop_above_a_number() -> None:
    texts = ("ghp_" + chars(36), "ghp_" + chars(36) + " npm_" + chars(36), "clean")
    assert mapped(*texts).verdicts == ()
    verdict = mapped(*texts, stage=Secrets(max_secrets=1)).verdicts
    assert [(v.row, v.reason, v.value, v.limit) for v in verdict] == [(1, "too_many_secrets", 2, 1)]


def test_kinds_can_be_skipped() -> None:
    text = "password='S3cr3t!pa55' ghp_" + chars(36)
    found = mapped(text, stage=Secrets(skip=("password",)))
    assert found.batch.column("text")[0].as_py() == "password='S3cr3t!pa55' <SECRET_GITHUB_TOKEN>"
    assert "secret_password" not in found.measures
    assert mapped(text, stage=Secrets(skip=kinds())).batch.column("text")[0].as_py() == text


def test_wrong_parameters() -> None:
    with pytest.raises(UsageError, match="unknown kind"):
        Secrets(skip=("passwords",))
    with pytest.raises(UsageError, match="negative"):
        Secrets(max_secrets=-1)


def test_checks_of_values() -> None:
    assert entropy_bits(b"aaaa") == 0 and entropy_bits(b"abcd") == 2
    assert is_random(chars(16).encode()) and not is_random(chars(15).encode())
    assert not is_random(b"RSA_1024_BIT_KEY_4096") and not is_random(b"arn:aws:iam::aws:policy/Key1")
    digits = chars(32, "0123456789abcdef").encode()
    assert is_key(digits) and not is_random(digits) and not is_key(digits[:31])
    assert is_password(b"aB3!efgh") and not is_password(b"aB3!efg") and not is_password(b"abcdefgh1")
    assert is_jwt(JWT.encode()) and not is_jwt(b"e30.e30.x") and not is_jwt(b"\xff.\xff")


PIECES = st.sampled_from(
    (
        *("ghp_" + chars(36), "AKIA", chars(16, "ABCDEFGHJKLMN234567"), "password", " = ", "'", '"', "S3cr3t!pa55"),
        *(
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            chars(64),
            "\n",
            "\\n",
            ":",
            "//",
            "u:p4ssw0rdX@h",
        ),
        *(
            "api_key",
            "TOKEN=",
            chars(20),
            "é",
            "中",
            "\U0001f60a",
            "\x00",
            "\u202e",
            "-",
            "_",
            "<",
            ">",
            "eyJ",
            ".",
            JWT,
        ),
        *("https", "\ufffc", " "),
    )
)
HOSTILE = st.one_of(st.lists(PIECES, max_size=16).map("".join), st.text(max_size=60))


@settings(max_examples=400, deadline=None)
@given(text=HOSTILE)
def test_twice_changes_nothing_and_characters_balance(text: str) -> None:
    batch = document_batch({"text": pa.array([text], pa.large_string())})
    once = run_chain([Secrets()], batch)
    after = once.kept.column("text")[0].as_py()
    assert sum(int(cut[0]) for cut in once.steps[0].cut_chars.values()) == len(text) - len(after)
    once.kept.validate(full=True)
    again = Secrets().transform(once.kept)
    assert again.batch.column("text")[0].as_py() == after
    assert not again.measures["secrets"].any()


@pytest.mark.parametrize(
    "unit", ["password='a' ", "token", "eyJa.", "://a:b", "-----BEGIN PRIVATE KEY-----", "gh_", "A="]
)
def test_time_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        before = time.process_time()
        mapped(text)
        return time.process_time() - before

    seconds(1000)
    small = min(seconds(20_000) for _ in range(3))
    assert seconds(160_000) < 40 * max(small, 0.005)
