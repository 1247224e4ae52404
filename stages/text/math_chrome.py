"""What forums, answer sites and calculators put about mathematics, and what renderers leave in its place.

Lines are compared by their normal form (`kernels.line_keys`): case, numbers and punctuation do not matter. The messages
are those of MathJax (`localization/en/TeX.js` of mathjax 2.7.7, "Math Processing Error" of its `MathJax.js`), KaTeX's
"ParseError", MediaWiki's "Failed to parse", WordPress's "Formula does not parse"; the lines are those that such sites
show in common.
"""

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gristmill.stages.kernels.line_keys import KeyTable

CHROME_LINES = (
    "reply|reply quote|reply with quote|quote|quote reply|post reply|post a reply|post new thread"
    "|new topic|like|likes|1 like|like 1|share|share this|share link|copy link|cite|edit|edited|delete"
    "|follow|following|flag|report|report post|report abuse|permalink|bookmark|save|print|email|tweet"
    "|share cite|share cite follow|share cite improve this answer|share cite improve this question"
    "|share edit follow|share edit|improve this answer|improve this question"
    "|share improve this answer follow|share improve this question follow|add a comment|add comment"
    "|leave a comment|show 1 more comment|show 1 more comments|1 comment|1 comments|comments|1 answer"
    "|1 answers|1 vote|1 votes|votes|up vote 1 down vote|up vote 1 down vote accepted|upvote|downvote"
    "|accepted|accepted answer|active oldest votes|active oldest score|highest score (default)|sorted by"
    "|sorted by: reset to default|not the answer you're looking for|browse other questions tagged"
    "|your answer|post your answer|thanks for contributing an answer|sign up or log in"
    "|sign up using google|sign up using facebook|sign up using email and password|post as a guest"
    "|related|linked|hot network questions|sign in|sign up|log in|login|logout|log out|register"
    "|register now|join now|join|create account|create an account|forgot password|remember me|my account"
    "|username|password|sign in to comment|log in to reply|log in or register to reply here"
    "|you must log in or register to reply here|thread starter|start date|gold member|science advisor"
    "|homework helper|senior member|junior member|new member|registered user|insights author"
    "|staff: mentor|mentor|messages 1|reaction score 1|likes received 1|posts 1|1 posts|rep power 1"
    "|view profile|offline|online|profile|search|search this thread|search forums|advanced search|home"
    "|forums|forum|menu|help|contact us|about us|privacy policy|terms of use|terms of service"
    "|cookie policy|cookies|advertisement|advertisements|sponsored|skip to content|skip to main content"
    "|navigation|back to top|next|previous|prev|next page|previous page|page 1 of 1|print this page"
    "|printable version|show printable version|similar threads|related threads|related questions"
    "|similar questions|ask a question|ask question|ask your question|get answers|show more|show less"
    "|read more|see more|view more|load more|hide|show|toggle navigation|subscribe|unsubscribe|download"
    "|upload|embed|embed this widget|get the app|download app|upgrade to premium|go premium"
    "|start free trial|try it free|get started|get started for free|enter an expression|enter expression"
    "|enter your expression|enter a problem|enter your problem|type a math problem|enter an equation"
    "|enter equation|enter a function|enter the equation|your input|clear|reset|submit|show steps"
    "|show solution|hide solution|hide steps|show step by step solution|step by step solution"
    "|step-by-step solution|view step-by-step|view full answer|see answer|related calculators"
    "|other calculators|calculators|more calculators|calculator|share this calculator|share calculator"
    "|share this calculator & page|calculator use|add to favorites|rate this calculator|calculator soup"
    "|was this helpful|was this answer helpful|did you find this helpful|yes no|verified answer"
    "|expert verified|unlock answer|回复|登录|注册|分享|收藏|举报|上一页|下一页|antworten|anmelden"
    "|registrieren|répondre"
    "|se connecter|s'inscrire|responder|iniciar sesión|registrarse|ответить|войти|регистрация|返信|ログイン"
)
CHROME_BEGINS = (
    "posted by|originally posted by|last edited by|join date|quote from|asked by|answered by|asked 1"
    "|answered 1|edited 1|viewed 1|modified 1|active 1|posted on|posted 1|replied 1|thread tools"
    "|reply to thread|thread started by|last post by|member since|loading mathjax"
)
"""Headings that a textbook has as well (solution, examples, solve, evaluate) are in neither list."""
ERROR_LINES = (
    "math processing error|[math processing error]|mathjax|loading mathjax|formula does not parse|invalid equation"
)

ERROR_PATTERN = (
    r"Math Processing Error|Unable to render expression|Failed to parse \((?:syntax|unknown|lexing|MathML"
    r"|PNG|Cannot|Missing)|Formula does not parse|latex path not specified|KaTeX parse error"
    r"|ParseError: KaTeX|Undefined control sequence \\|Extra (?:open|close) brace or missing (?:open"
    r"|close) brace|Missing (?:open|close) brace for|Missing \\left or extra|Extra \\left or missing"
    r"|Double (?:exponent|subscript|superscript): use braces|Misplaced [&#\\]|mimetex\.cgi\?"
    r"|latex\.php\?latex=|chart\?cht=tx|codecogs\.com/(?:gif|png|svg)\.latex|LaTeX Error:"
    r"|! Missing \$ inserted"
)
"""RE2, over the whole text: what stands where a formula should."""

CALCULATOR_PATTERN = (
    r"(?i)enter (?:an?|the|your) (?:expression|equation|function|problem|values?|number)"
    r"|(?:free )?(?:online )?[a-z]+ calculator|calculator (?:will|can|with steps|solves|computes|finds)"
    r"|click (?:on )?the (?:calculate|solve|submit) button|(?:step[- ]by[- ]step|math|equation) solver"
    r"|embed this (?:calculator|widget)|share this (?:calculator|widget)"
)
"""RE2: phrases of calculators' pages."""

TERM_PATTERN = (
    r"(?i)theorem|lemma|corollary|equation|derivative|integral|polynomial|matri(?:x|ces)|algebra|geometr"
    r"|calculus|arithmetic|trigonometr|logarithm|probabilit|coefficient|differentiab|fourier|power series"
    r"|square root|prime number|modul[oi]\b|axiom|\bproofs?\b|inequalit|numerical|fraction|factori[sz]"
    r"|quadratic|eigenv|vector|theor[eè]m|satz von|gleichung|ableitung|équation|dérivée|intégrale|ecuaci"
    r"|derivada|equazion|derivata|equaç|уравнен|теорем|интеграл|производн|матриц|定理|方程|积分|積分|函数"
    r"|関数|導関数|矩阵"
    r"|行列|微分|証明|证明"
)
"""RE2: words of mathematics, as evidence where formulas are few."""


@functools.lru_cache(maxsize=1)
def known_lines() -> "KeyTable":
    """All lines as one table of `math_lines`."""
    from gristmill.stages.kernels.line_keys import key_table
    from gristmill.stages.kernels.math_lines import CHROME, ERROR, PREFIX

    values = dict.fromkeys(CHROME_BEGINS.split("|"), CHROME | PREFIX)
    values |= dict.fromkeys(ERROR_LINES.split("|"), ERROR)
    return key_table(dict.fromkeys(CHROME_LINES.split("|"), CHROME) | values)
