"""URL lists: each rule, hostile addresses, lists as files; what has no URL stays."""

import gzip
import multiprocessing
import string
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.manifests.errors import InputError, UsageError
from gristmill.manifests.schema import document_batch
from gristmill.stages import catalogue
from gristmill.stages.chain import run_chain
from gristmill.stages.protocol import RowStage
from gristmill.stages.text.url_lists import Address, UrlLists, address, domains_above

LISTS = {
    "block_domains": "# domains\nbad.example\n*.evil.example\nbücher.example\nHTTP://Shop.Example:8080/x\n",
    "block_urls": "https://www.ok.example/page?q=1\n",
    "banned_words": "casino\nfree spins\nказино\n",
    "soft_words": "hot\ncam\ndate\n",
    "banned_subwords": "xxx-vid\n",
    "allow_domains": "good.bad.example\n",
    "allow_urls": "bad.example/about\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in LISTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def load(folder: Path, names: list[str] | None = None) -> RowStage:
    stage = catalogue.load("url_lists", {name: [name] for name in names or LISTS}, folder)
    assert isinstance(stage, UrlLists)
    return stage


def reasons(stage: RowStage, urls: list[str | None]) -> list[str]:
    batch = document_batch({"text": pa.array(["x"] * len(urls), pa.large_string()), "url": pa.array(urls, pa.string())})
    found = [""] * len(urls)
    for fate in run_chain([stage], batch).fates:
        found[fate.row] = fate.reason
    return found


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://bad.example/", "domain"),
        ("http://www.bad.example", "domain"),
        ("https://a.b.BAD.example.:443/x", "domain"),
        ("http://user:pw@bad.example:8080/", "domain"),
        ("bad.example", "domain"),
        ("http://notbad.example/", ""),
        ("http://bad.example.org/", ""),
        ("http://example/?u=bad.example", ""),
        ("http://bad.example@fine.example/", ""),
        ("http://fine.example#@bad.example/", ""),
        ("http:\\\\bad.example\\x", "domain"),
        ("ht\ntp://bad\t.example/", "domain"),
        ("http://b%61d.example/", "domain"),
        ("http://bad。example/", "domain"),
        ("http://evil.example/", "domain"),
        ("http://x.evil.example/", "domain"),
        ("https://xn--bcher-kva.example/", "domain"),
        ("https://BÜCHER.example/", "domain"),
        ("http://shop.example/y", "domain"),
        ("http://ok.example/page?q=1#part", "url"),
        ("http://ok.example/page?q=2", ""),
        ("http://ok.example:8080/page?q=1", ""),
        ("http://a.example/Casino-royale", "hard_blacklisted"),
        ("http://casino.example/", "hard_blacklisted"),
        ("http://a.example/casinos", ""),
        ("http://a.example/get/free_spins/now", "hard_blacklisted"),
        ("http://a.example/get/free-spins/now", "hard_blacklisted"),
        ("http://a.example/spins-free", ""),
        ("http://a.example/%D0%BA%D0%B0%D0%B7%D0%B8%D0%BD%D0%BE", "hard_blacklisted"),
        ("http://a.example/hot-cam", "soft_blacklisted"),
        ("http://a.example/hot-hot", ""),
        ("http://a.example/my-xxx.vids", "blacklisted_subword"),
        ("http://good.bad.example/casino", ""),
        ("http://www.good.bad.example/", ""),
        ("https://bad.example/about", ""),
        (None, ""),
        ("", ""),
        ("casino", "hard_blacklisted"),
        ("/casino/path", ""),
        ("mailto:casino@bad.example", ""),
        ("javascript:casino", ""),
        ("http://", ""),
        ("http://[::1", ""),
        ("http://xn--\u00ff/", ""),
        ("http://" + "a." * 50_000 + "bad.example/", ""),
    ],
)
def test_each_rule(folder: Path, url: str | None, reason: str) -> None:
    assert reasons(load(folder), [url]) == [reason]


def test_value_and_limit_of_soft_words(folder: Path) -> None:
    batch = document_batch(
        {"text": pa.array(["x"], pa.large_string()), "url": pa.array(["http://a.example/hot/cam/date"], pa.string())}
    )
    fate = run_chain([load(folder)], batch).fates[0]
    assert (fate.measure, fate.value, fate.limit) == ("soft_words", 3.0, 1.0)


def test_without_lists_everything_stays() -> None:
    assert reasons(UrlLists(), ["http://bad.example/casino", None]) == ["", ""]


def test_an_ip_address_is_a_host() -> None:
    assert address("http://[2001:DB8::1]:8080/x") == Address("2001:db8::1", "8080", "/x")
    assert address("http://127.0.0.1:80") == Address("127.0.0.1", "", "/")


def test_domains_above() -> None:
    assert list(domains_above("a.b.c")) == ["a.b.c", "b.c", "c"]
    assert list(domains_above("")) == [""]


@given(st.text(max_size=60) | st.text(string.printable, max_size=60))
def test_any_text_is_taken_apart(url: str) -> None:
    found = address(url)
    if found is not None:
        assert found.host
        assert found.rest.startswith("/")
        assert address(f"http://{found.host}/") is None or address(f"http://{found.host}/") is not None


def test_lists_may_be_compressed_and_follow_their_file(folder: Path) -> None:
    (folder / "block_domains").write_bytes(gzip.compress(b"other.example\n"))
    stage = load(folder, ["block_domains"])
    assert reasons(stage, ["http://other.example", "http://bad.example"]) == ["domain", ""]
    (folder / "block_domains").write_bytes(b"\xef\xbb\xbfbad.example\n# changed\n")
    assert reasons(load(folder, ["block_domains"]), ["http://other.example", "http://bad.example"]) == ["", "domain"]


def test_a_list_that_is_no_text_is_told_before_any_work(folder: Path) -> None:
    (folder / "block_urls").write_bytes(b"\xff\xff")
    with pytest.raises(InputError, match="block_urls"):
        load(folder).prepare()  # pyright: ignore


def _in_a_process(folder: str) -> list[str]:
    return reasons(load(Path(folder)), ["http://bad.example", "http://fine.example"])


def test_processes_that_start_together_read_the_same_lists(folder: Path) -> None:
    """datatrove#140, #155: workers raced for lists that were unpacked into a shared place."""
    before = sorted(path.name for path in folder.iterdir())
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.map(_in_a_process, [str(folder)] * 4) == [["domain", ""]] * 4
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_threshold_of_no_words_is_refused() -> None:
    with pytest.raises(UsageError):
        UrlLists(soft_word_threshold=0)
