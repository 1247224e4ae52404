"""Pages written by hand for the tests of the web domain, and the skips of what they need."""

from importlib.util import find_spec

import pytest

from gristmill.render.protocol import Code, View
from gristmill.render.web.browser import find

GRID = """<!doctype html><html lang="en"><head><title>Shop</title><style>
body{font-family:"DejaVu Sans",sans-serif;margin:20px;background:#f4f6fa;color:#111}
.grid{display:grid;grid-template-columns:repeat(3,1fr);gap:14px}
.card{background:#fff;border-radius:8px;padding:12px;box-shadow:0 2px 6px #0003}
h2{margin:0 0 8px;font-size:18px}button{background:#2563eb;color:#fff;border:0;border-radius:6px;padding:8px 14px}
</style></head><body><h1 id="top">Garden tools</h1><div class="grid">%s</div></body></html>"""
CARD = """<div class="card"><h2>Spade number %d</h2><p>A tool for the %s bed that wraps over two lines at the least.</p>
<button id="buy%d">Buy for %d</button> <input type="checkbox" checked> <a href="#">details %d</a></div>"""

FORM = """<!doctype html><html><head><style>body{font:15px "DejaVu Sans";margin:0;background:#101418;color:#e8eef4}
form{width:420px;margin:30px auto;display:flex;flex-direction:column;gap:10px}
input,select,textarea{background:#1c242c;color:#fff;border:1px solid #567;padding:7px;font:inherit}
fieldset{border:1px solid #456}button{align-self:flex-start;background:#e0a030;border:0;padding:9px 20px;color:#111}
progress{width:200px}</style></head><body><form action="#"><h1>Sign up</h1>
<label for="n">Full name</label><input id="n" value="Ada Byron"><label for="m">Mail</label>
<input id="m" type="email" placeholder="you@example.org" required>
<label>Country <select><option>Kenya<option selected>Iceland</select></label>
<fieldset><legend>Plan</legend><label><input type="radio" name="p" checked> Free</label>
<label><input type="radio" name="p"> Paid</label></fieldset>
<textarea rows="3">Some words</textarea><label><input type="checkbox" disabled> I agree</label>
<progress value="40" max="100">40</progress><button disabled>Create account</button></form></body></html>"""

ARABIC = """<!doctype html><html lang="ar" dir="rtl"><head><style>body{font:17px "DejaVu Sans";margin:24px;
background:#fffdf6}
nav a{margin-left:18px}table{border-collapse:collapse;margin-top:16px}td,th{border:1px solid #998;padding:6px 14px}
.turned{transform:rotate(-4deg);display:inline-block;background:#d8efe0;padding:8px;margin:20px}</style></head><body>
<nav aria-label="رئيسية"><a href="#">الصفحة الأولى</a><a href="#">الأخبار</a><a href="#">اتصل بنا</a></nav>
<h1>أخبار اليوم</h1><p>هذا نص طويل بما يكفي لكي يمتد على أكثر من سطر واحد في هذه الصفحة، ثم يعود إلى بدايته مرة أخرى،
وفيه كلمات <b>مهمة</b> و<i>أخرى</i> كثيرة.</p><table><tr><th>المدينة</th><th>السكان</th></tr><tr><td>القاهرة</td>
<td>10</td></tr><tr><td>تونس</td><td>2</td></tr></table>
<div class="turned" role="note">ملاحظة مائلة</div></body></html>"""

MAIL = """<!doctype html><html><head><style>*{box-sizing:border-box}body{margin:0;font:14px "DejaVu Serif";display:flex;
height:100vh}aside{width:180px;background:#223;color:#eef;padding:14px}aside ul{list-style:none;padding:0}
main{flex:1;overflow:auto;background:#fff}li.m{border-bottom:1px solid #ddd;padding:9px 14px;list-style:disc inside}
.modal{position:fixed;right:40px;bottom:40px;width:300px;background:#fff3d0;border:2px solid #c80;padding:16px}
.badge{background:#c22;color:#fff;border-radius:9px;padding:1px 8px}</style></head><body><aside><h2>Mail</h2><ul>
<li><a href="#" style="color:#9cf" aria-current="page">Inbox</a> <span class="badge">12</span>
<li><a href="#" style="color:#9cf">Drafts</a><li><a href="#" style="color:#9cf">Sent mail</a></ul></aside><main>
<ul style="margin:0;padding:0">%s</ul><div class="modal" role="dialog" aria-label="Undo"><p>Message was sent.</p>
<button>Undo now</button></div></main></body></html>"""


def pages() -> dict[str, str]:
    """Name -> page."""
    cards = "".join(CARD % (i, "rose" if i % 2 else "vegetable", i, 10 + i, i) for i in range(1, 10))
    mails = "".join(f'<li class="m"><b>Sender {i}</b> wrote about <i>matter {i}</i> at 9:{10 + i}' for i in range(16))
    return {"grid": GRID % cards, "form": FORM, "arabic": ARABIC, "mail": MAIL % mails}


def code(html: str, scale: float = 1.0, width_px: int = 1024, height_px: int = 768) -> Code:
    """A page as the code of a template."""
    return Code(html, "html", "by hand", View(width_px, height_px, scale))


def skip_without_browser() -> None:
    """Skip a module of tests where no page can be rendered."""
    if find_spec("lxml") is None:
        pytest.skip("lxml is not installed: make test-extras", allow_module_level=True)
    if not find().path:
        pytest.skip("no Chromium on this machine", allow_module_level=True)
    if find().cage != "bubblewrap":
        pytest.skip("no bubblewrap that works on this machine", allow_module_level=True)
