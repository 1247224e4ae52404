"""Hostile pages: each costs one record, with its reason, and the next page is rendered as if nothing had been."""

import os
import time
from pathlib import Path

import pytest

from gristmill.render.make import first_failing
from gristmill.render.protocol import Code, Rejected, View
from gristmill.render.web.browser import Found, refuses
from gristmill.render.web.client import Client
from gristmill.render.web.domain import WebDomain
from gristmill.render.web.memory import descendants
from tests.extras.web_pages import code, pages, skip_without_browser

skip_without_browser()
pytestmark = pytest.mark.timeout(150)
DOMAIN = WebDomain()
REST = "<h1>Some page</h1><p>with words in it</p><button>Go</button>"
VIEW = View(640, 480)
DEEP = "<div>" * 4000 + "deep" + "</div>" * 4000


def outcome(html: str) -> str:
    """The reason for which a page is not taken, `ok` where it is."""
    page = Code(html, "html", "by hand", VIEW)
    try:
        shot = DOMAIN.render(page)
        report = DOMAIN.verify(page, shot, DOMAIN.annotate(page, shot))
    except Rejected as rejected:
        assert rejected.reason in {reason.reason for reason in DOMAIN.reasons()}
        verdicts = {reason.reason: reason.verdict for reason in DOMAIN.reasons()}
        assert rejected.verdict == verdicts[rejected.reason]
        return rejected.reason
    rule = first_failing(DOMAIN.rules(), report)
    return rule.reason if rule is not None else "ok"


CASES = {
    "endless loop": ("<script>while(true){}</script>", {"page_hangs"}),
    "loop after load": ("<script>addEventListener('load',()=>{while(true){}})</script>", {"page_hangs"}),
    "memory": (
        "<script>let a=[];for(;;){let f=new Float64Array(1<<22);f.fill(1.5);a.push(f)}</script>",
        {"memory", "page_crashed", "page_hangs", "console_error"},
    ),
    "memory of strings": ("<script>let s='x';for(;;)s+=s+s.slice(1)</script>", {"page_crashed", "console_error"}),
    "one alert": ("<script>alert(1)</script>", {"dialog"}),
    "storm of alerts": ("<script>for(;;)alert(1)</script>", {"dialog"}),
    "prompt and confirm": ("<script>prompt('a');confirm('b')</script>", {"dialog"}),
    "print": ("<script>print()</script>", {"ok"}),
    "popup": ("<script>open('about:blank')</script>", {"popup"}),
    "storm of popups": ("<script>for(let i=0;i<30;i++)open('about:blank#'+i)</script>", {"popup"}),
    "navigation": ("<script>location.href='http://192.0.2.1/'</script>", {"asks_network"}),
    "navigation to data": (
        "<script>location.href='data:text/html,x'</script>",
        {"navigates", "asks_network", "console_error"},
    ),
    "reload": ("<script>location.reload()</script>", {"navigates"}),
    "meta refresh": ("<meta http-equiv=refresh content='0;url=http://192.0.2.1/'>", {"asks_network"}),
    "http picture": ("<img src='http://192.0.2.1/a.png' alt=a>", {"asks_network"}),
    "file picture": ("<img src='file:///etc/hostname' alt=a>", {"asks_network"}),
    "fetch": ("<script>fetch('http://192.0.2.1/').catch(()=>0)</script>", {"asks_network"}),
    "socket": ("<script>new WebSocket('ws://192.0.2.1/')</script>", {"asks_network"}),
    "frame": ("<iframe srcdoc='<h1>in</h1>'></iframe>", {"has_frames"}),
    "frame in frame": ("<iframe src='about:blank'></iframe>" * 50, {"has_frames"}),
    "error": ("<script>throw new Error('x')</script>", {"console_error"}),
    "syntax error": ("<script>let let = 1</script>", {"console_error"}),
    "service worker": ("<script>navigator.serviceWorker.register('/s.js')</script>", {"console_error"}),
    "download": ("<a id=x download=a href='data:text/plain,a'>a</a><script>x.click()</script>", {"download"}),
    "font from the network": (
        "<style>@font-face{font-family:F;src:url(http://192.0.2.1/f.woff)}h1{font-family:F}</style>",
        {"asks_network"},
    ),
    "broken font": (
        "<style>@font-face{font-family:F;src:url(data:font/woff2;base64,AAAA)}h1{font-family:F}</style>",
        {"ok"},
    ),
    "endless animation": (
        "<style>@keyframes a{to{transform:rotate(1turn)}}h1{animation:a 1s infinite}</style>",
        {"ok"},
    ),
    "many elements": ("<b>x</b>" * 20000, {"too_many_elements"}),
    "deep": (DEEP, {"too_many_elements"}),
    "huge page": ("<div style='height:30000000px;width:30000000px'>x</div>", {"blank"}),
    "huge text": (f"<p>{'word ' * 400_000}</p>", {"ok", "page_hangs", "page_crashed", "memory"}),
    "one word": (f"<p>{'w' * 1_000_000}</p>", {"ok", "page_hangs", "page_crashed", "memory"}),
    "endless layout": (
        "<script>new ResizeObserver(()=>{x.style.width=x.offsetWidth+1+'px'}).observe(x)</script><div id=x>a</div>",
        {"console_error"},
    ),
    "canvas too large": ("<canvas width=60000 height=60000></canvas>", {"ok"}),
    "picture bomb": (
        "<svg width=100 height=100><filter id=f><feGaussianBlur stdDeviation=9999 /></filter>"
        "<rect width=9e9 height=9e9 filter=url(#f) /></svg>",
        {"ok"},
    ),
    "svg uses": (
        "<svg><defs><g id=a0><path d='M0 0h1'/></g>"
        + "".join(f"<g id=a{i}>" + f"<use href='#a{i - 1}'/>" * 10 + "</g>" for i in range(1, 9))
        + "</defs><use href='#a8'/></svg>",
        {"page_hangs"},
    ),
    "style bomb": (
        "<style>:root{--a0:xxxxxxxxxx;"
        + "".join(f"--a{i}:var(--a{i - 1})var(--a{i - 1});" for i in range(1, 60))
        + "}p{content:var(--a59)}</style>",
        {"ok"},
    ),
    "lying prototypes": (
        "<script>Element.prototype.getBoundingClientRect=()=>({left:0,top:0,right:9,bottom:9});"
        "Array.prototype.map=()=>[];JSON.stringify=()=>'[]';document.elementFromPoint=()=>null</script>",
        {"ok"},
    ),
    "zero bytes": ("a\0b<h1>x\0y</h1>", {"ok"}),
    "lone surrogate": ("<p>\ud800 alone</p>", {"ok"}),
    "marks of direction": ("<p>\u202eabc\u202c \u2066def</p>", {"ok"}),
    "no doctype": ("<center><font size=7>old</font></center>", {"ok"}),
    "clobbered names": (
        "<form id=f><input name=getAttribute><input name=parentElement><input name=style></form>",
        {"ok"},
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_a_hostile_page_costs_one_record(name: str) -> None:
    html, reasons = CASES[name]
    assert outcome(f"<!doctype html>{html}{REST}") in reasons
    assert outcome(pages()["form"]) == "ok"


def test_what_one_page_leaves_does_not_change_the_next() -> None:
    page = code(pages()["grid"])
    before = DOMAIN.render(page).png
    for name in ("lying prototypes", "error", "meta refresh", "endless animation", "clobbered names", "many elements"):
        outcome(CASES[name][0] + REST)
        assert DOMAIN.render(page).png == before, name


def test_existing_pages_never_run_script() -> None:
    """Even where the parser would miss it: scripting is off for pages of a corpus."""
    page = Code(
        f"<!doctype html>{REST}<script>document.body.textContent='run'</script>", "html", "existing", View(300, 200)
    )
    shot = DOMAIN.render(page)
    assert "Some page" in {a.text for a in DOMAIN.annotate(page, shot)}


def test_a_killed_worker_takes_its_browser_along() -> None:
    client = Client()
    head = {"job": "take", "ids": [], "html": REST, "view": [300, 200, 1.0], "seed": 0, "scripts": False}
    client.ask(head)
    assert client.pid is not None
    below = descendants(client.pid)
    assert len(below) > 5
    os.kill(client.pid, 9)
    deadline = time.monotonic() + 20
    while any(_runs(pid) for pid in below) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [pid for pid in below if _runs(pid)] == []
    client.ask(head)
    client.close()


def test_without_a_sandbox_pages_are_refused() -> None:
    assert refuses(Found("/bin/browser", "none"), trusted=True) == "no sandbox"
    assert refuses(Found("/bin/browser", "chromium"), trusted=False) == "no sandbox"
    assert refuses(Found("/bin/browser", "chromium"), trusted=True) == ""
    assert refuses(Found("", "bubblewrap"), trusted=True) == "no browser"
    client = Client(Found("/bin/browser", "none"))
    with pytest.raises(Rejected) as caught:
        client.ask({})
    assert caught.value.reason == "no_engine"
    assert "bubblewrap" in caught.value.detail


def test_the_cage_has_no_network_and_no_files(tmp_path: Path) -> None:
    import subprocess

    from gristmill.render.web.browser import bubblewrap_words

    secret = tmp_path / "secret"
    secret.write_text("x")
    script = f"cat {secret}; ls /root /home; ls /sys/class/net; cat /proc/net/dev | wc -l; id -u; env"
    done = subprocess.run([*bubblewrap_words("/bin/sh"), "-c", script], capture_output=True, text=True, check=False)
    assert str(secret) in done.stderr
    lines = done.stdout.split("\n")
    assert "3" in lines
    assert "1000" in lines
    assert all("GRISTMILL" not in line for line in lines)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False
