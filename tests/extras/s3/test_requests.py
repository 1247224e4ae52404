"""Requests to a real server of object storage: what is atomic, what is resumed, what goes wrong and how it is told."""

import gzip
import hashlib
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from blake3 import blake3

from gristmill.manifests import remote
from gristmill.manifests.errors import EngineLostError, UsageError, VerifyError
from gristmill.manifests.remote import ChangedError, fetch, get, head, put, put_if_absent, replace_if, upload
from gristmill.manifests.remote_access import RemotePlace, place_of
from gristmill.manifests.remote_file import open_remote
from gristmill.pipeline.sources.streams import read_pieces
from tests.extras.s3.server import KEY, SECRET, Proxy, ask, proxy_to, s3_server

MIB = 1 << 20


def noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@pytest.fixture
def place(bucket: str, proxy: Proxy) -> RemotePlace:
    return RemotePlace(bucket, "out")


def test_of_many_that_put_if_absent_at_once_one_wins(place: RemotePlace) -> None:
    for round_number in range(5):
        start = threading.Barrier(12)

        def attempt(me: int, name: str = f"r{round_number}", start: threading.Barrier = start) -> bool:
            start.wait()
            return put_if_absent(place, name, b"%d" % me) is not None

        with ThreadPoolExecutor(12) as pool:
            won = [me for me, wins in enumerate(pool.map(attempt, range(12))) if wins]
        found = get(place, f"r{round_number}")
        assert found is not None and [found[0]] == [b"%d" % me for me in won]


def test_only_the_holder_of_the_entity_tag_replaces(place: RemotePlace) -> None:
    first = put_if_absent(place, "lock", b"a")
    assert first is not None
    assert replace_if(place, "lock", b"b", first) is not None
    assert replace_if(place, "lock", b"c", first) is None
    assert (get(place, "lock") or ())[0] == b"b"


@pytest.mark.parametrize("client_retries_s", ["2", "0"])
def test_an_answer_that_is_lost_on_the_way_loses_no_object(
    client_retries_s: str, place: RemotePlace, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that asks again finds the name taken, by itself; one that does not is told that the server is lost."""
    monkeypatch.setenv("GRISTMILL_REMOTE_RETRY_S", client_retries_s)
    proxy.rules.mute, proxy.rules.mute_paths = 1, "/receipt.json"
    won = put_if_absent(place, "receipt.json", b"ours")
    assert proxy.rules.mute == 0
    assert won is not None or client_retries_s == "2"
    assert (get(place, "receipt.json") or ())[0] == b"ours"
    assert put_if_absent(place, "receipt.json", b"theirs") is None


def test_large_files_go_in_parts(place: RemotePlace, proxy: Proxy, tmp_path: Path) -> None:
    data = noise(12 * MIB + 1)
    (tmp_path / "f").write_bytes(data)
    upload(place, "large", tmp_path / "f", part_bytes=5 * MIB)
    assert len(proxy.of("PART")) == 3
    assert proxy.kinds()["POST"] == 2  # begun and completed
    (tmp_path / "f").write_bytes(data[: 5 * MIB])
    upload(place, "small", tmp_path / "f", part_bytes=5 * MIB)
    assert len(proxy.of("PART")) == 3
    fetch(place, "large", tmp_path / "g", len(data), "blake3:" + blake3(data).hexdigest())
    assert (tmp_path / "g").read_bytes() == data


@pytest.mark.parametrize("client_retries_s", ["2", "0"], ids=["by the client", "by us"])
def test_a_read_goes_on_where_its_connection_dropped(
    client_retries_s: str, place: RemotePlace, proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client goes on by itself while its time for retries lasts, and we ask again when it gives up."""
    monkeypatch.setenv("GRISTMILL_REMOTE_RETRY_S", client_retries_s)
    data = noise(3 * MIB)
    put(place, "f", data)
    proxy.rules.cut_bytes, proxy.rules.cuts = MIB, 2
    fetch(place, "f", tmp_path / "f", len(data), "blake3:" + blake3(data).hexdigest())
    assert (tmp_path / "f").read_bytes() == data
    starts = [int(r.range.removeprefix("bytes=").partition("-")[0]) for r in proxy.of("GET", "/f")]
    assert len(starts) == 3 and starts[0] == 0
    assert starts == sorted(set(starts)) and starts[1] > MIB // 2, "what had come was asked for again"


def test_a_read_that_gets_nowhere_ends(place: RemotePlace, proxy: Proxy) -> None:
    data = noise(MIB)
    put(place, "f", data)
    proxy.rules.cut_bytes, proxy.rules.cuts = 0, 1000
    with pytest.raises(EngineLostError, match="breaks off"):
        list(remote.read_whole(place, "f", len(data)))


@pytest.mark.parametrize(
    "stored",
    [noise(1000)[:999], noise(1000) + b"x", bytes([noise(1000)[0] ^ 1]) + noise(1000)[1:], b"", None],
    ids=["short", "long", "flipped", "empty", "gone"],
)
def test_what_is_not_what_its_receipt_says_is_named(place: RemotePlace, stored: bytes | None, tmp_path: Path) -> None:
    if stored is not None:
        put(place, "objects/k/data.parquet", stored)
    with pytest.raises(VerifyError, match=rf"s3://{place.bucket}/out/objects/k/data\.parquet") as caught:
        fetch(place, "objects/k/data.parquet", tmp_path / "f", 1000, "blake3:" + blake3(noise(1000)).hexdigest())
    assert "\n" not in str(caught.value) and not list(tmp_path.glob("*f*")) + list(tmp_path.glob(".tmp*"))


def test_tiny_reads_cost_few_requests(place: RemotePlace, proxy: Proxy) -> None:
    """datatrove#497: blocks of 340 bytes made 500 requests of a file."""
    data = noise(20 * MIB)
    put(place, "f", data)
    proxy.requests.clear()
    with open_remote(place.shown("f")) as stream:
        assert stream.read(100) == data[:100]
        stream.seek(-8, 2)
        assert stream.read() == data[-8:]
        stream.seek(0)
        hasher = hashlib.sha256()
        while piece := stream.read(340):
            hasher.update(piece)
    assert hasher.digest() == hashlib.sha256(data).digest()
    assert proxy.kinds() == {"HEAD": 1, "GET": 3}


def test_gzip_of_many_members_over_a_dropping_connection(place: RemotePlace, proxy: Proxy) -> None:
    """datatrove#278: members that end where a block of the remote file does."""
    text = noise(9 * MIB).hex().encode()
    packed = b"".join(gzip.compress(text[i : i + 1_000_003], 1) for i in range(0, len(text), 1_000_003))
    put(place, "f.gz", packed)
    proxy.rules.cut_bytes, proxy.rules.cuts = 5 * MIB + 17, 2
    with open_remote(place.shown("f.gz")) as stream:
        assert b"".join(p for p in read_pieces(stream, "f.gz") if isinstance(p, bytes)) == text


def test_a_lost_server_is_no_truncated_file(place: RemotePlace, proxy: Proxy) -> None:
    packed = gzip.compress(noise(9 * MIB), 1)
    put(place, "f.gz", packed)
    proxy.rules.cut_bytes, proxy.rules.cuts = 0, 10_000
    with pytest.raises(EngineLostError), open_remote(place.shown("f.gz")) as stream:
        for _ in read_pieces(stream, "f.gz"):
            pass


def test_an_object_replaced_while_it_is_read_is_refused(place: RemotePlace) -> None:
    put(place, "f", noise(20 * MIB))
    stream = open_remote(place.shown("f"))
    stream.read(10)
    put(place, "f", noise(20 * MIB)[::-1])
    with pytest.raises(ChangedError, match="changed"):
        stream.read(12 * MIB)
    with pytest.raises(ChangedError):
        stream.close()


def test_a_missing_bucket_is_told(proxy: Proxy) -> None:
    for ask_for in (get, write):
        with pytest.raises(UsageError, match="no such bucket"):
            ask_for(RemotePlace("no-such-bucket", ""), "x")


def write(place: RemotePlace, name: str) -> None:
    put(place, name, b"")


def test_refused_credentials_are_told_and_not_shown(
    tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3_server(tmp_path) as own, proxy_to(own) as way:
        ask(own, "PUT", "/buck")
        ask(own, "POST", "/moto-api/reset-auth", b"0")  # from here on this server checks keys
        monkeypatch.setenv("AWS_ENDPOINT_URL", way.url)
        with pytest.raises(UsageError, match="refuses the credentials") as caught:
            put(RemotePlace("buck", ""), "x", b"x")
    assert KEY not in repr(caught.value) and SECRET not in repr(caught.value)


def test_a_server_that_is_down_is_told_in_time(monkeypatch: pytest.MonkeyPatch, proxy: Proxy) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    for ask_for in (get, head, write):
        with pytest.raises(EngineLostError, match="cannot be reached"):
            ask_for(RemotePlace("b", ""), "x")


def test_credentials_of_a_file(place: RemotePlace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(UsageError, match="no credentials"):
        put(place, "x", b"x")
    (tmp_path / "credentials").write_text(f"[mill]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_PROFILE", "mill")
    put(place, "x", b"x")
    (tmp_path / "credentials").write_text(f"[mill\naws_secret_access_key = {SECRET}\n")
    with pytest.raises(UsageError) as caught:
        put(place, "x", b"x")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [f"s3://{KEY}:{SECRET}@bucket/x", "s3://", "s3:///x", "s3://b ucket/x", f"s3://bucket:{SECRET}/x", "s3://b/a//c"],
)
def test_a_url_that_names_no_place_is_refused_unseen(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        place_of(url)
    assert SECRET not in str(caught.value)


def test_what_is_pickled_holds_no_key(place: RemotePlace) -> None:
    from gristmill.manifests.open_store import open_store
    from gristmill.manifests.working_copy import working_copy

    store = open_store(working_copy(place.url))
    put(place, "x", b"x")  # a client is there by now
    pickled = pickle.dumps(store)
    assert KEY.encode() not in pickled and SECRET.encode() not in pickled
    assert pickle.loads(pickled) == store
