"""Phrases of navigation and notices by language: our own choice of what the frames of web pages say.

All in lower case; `kernels.lines_phrases` finds other cases. NOTICES are looked for in short lines alone, so that a
text about cookies or copyright is not taken for a notice.
"""

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gristmill.stages.kernels.lines_phrases import Phrases

AT_START = (
    "sign-in", "sign in", "signin", "sign-out", "sign out", "signout", "sign-up", "sign up", "log-in", "log in",
    "login", "log-out", "log out", "logout",
)  # fmt: skip
"""A short line that begins so; RefinedWeb's example is "sign-in"."""
AT_END = (
    "read more...", "read more\u2026", "read more", "continue reading", "continue reading...",
    "continue reading\u2026", "load more", "show more", "see more",
)  # fmt: skip
"""A short line that ends so; RefinedWeb's example is "Read more..."."""
INSIDE = ("items in cart", "item in cart", "skip to content", "skip to main content", "add to cart")
"""A short line that holds this; RefinedWeb's example is "items in cart"."""
COUNTED = (
    "like", "likes", "share", "shares", "comment", "comments", "view", "views", "reply", "replies", "retweet",
    "retweets", "repost", "reposts", "quote", "quotes", "bookmark", "bookmarks", "upvote", "upvotes", "downvote",
    "downvotes", "download", "downloads", "follower", "followers", "subscriber", "subscribers", "vote", "votes",
    "kommentar", "kommentare", "aufrufe", "commentaire", "commentaires", "vues", "comentario", "comentarios",
    "me gusta", "vistas", "commenti", "visualizzazioni", "comentário", "comentários", "visualizações", "reacties",
    "weergaven", "komentarze", "komentarzy", "комментарий", "комментария", "комментариев", "просмотров", "yorum",
)  # fmt: skip
"""What a counter counts ("3 likes")."""

NOTICES: dict[str, tuple[str, ...]] = {
    "en": (
        "all rights reserved", "copyright ©", "© copyright", "copyright (c)", "privacy policy", "terms of use",
        "terms of service", "terms and conditions", "cookie policy", "we use cookies", "uses cookies",
        "accept cookies", "accept all cookies", "cookie settings", "skip to content", "skip to main content",
        "subscribe to our newsletter", "sign up for our newsletter", "share on facebook", "share on twitter",
        "follow us on", "log in to", "forgot your password", "powered by", "back to top", "jump to navigation",
        "toggle navigation", "add to cart", "click here to",
    ),
    "de": (
        "alle rechte vorbehalten", "datenschutzerklärung", "diese website verwendet cookies", "cookie-einstellungen",
        "impressum", "allgemeine geschäftsbedingungen", "zum inhalt springen", "passwort vergessen", "nach oben",
        "in den warenkorb", "newsletter abonnieren",
    ),
    "fr": (
        "tous droits réservés", "politique de confidentialité", "mentions légales", "utilise des cookies",
        "conditions d'utilisation", "aller au contenu", "mot de passe oublié", "haut de page", "ajouter au panier",
        "accepter les cookies",
    ),
    "es": (
        "todos los derechos reservados", "política de privacidad", "política de cookies", "utiliza cookies",
        "aviso legal", "términos y condiciones", "ir al contenido", "saltar al contenido", "iniciar sesión",
        "añadir al carrito",
    ),
    "it": (
        "tutti i diritti riservati", "informativa sulla privacy", "utilizza i cookie", "note legali",
        "termini e condizioni", "vai al contenuto", "password dimenticata", "torna su", "aggiungi al carrello",
    ),
    "pt": (
        "todos os direitos reservados", "política de privacidade", "utiliza cookies", "usa cookies",
        "termos de uso", "ir para o conteúdo", "esqueceu a senha", "voltar ao topo", "adicionar ao carrinho",
    ),
    "nl": (
        "alle rechten voorbehouden", "privacybeleid", "maakt gebruik van cookies", "algemene voorwaarden",
        "naar de inhoud", "wachtwoord vergeten", "in winkelwagen",
    ),
    "pl": (
        "wszelkie prawa zastrzeżone", "polityka prywatności", "używa plików cookie", "regulamin serwisu",
        "przejdź do treści", "dodaj do koszyka", "zaloguj się",
    ),
    "ru": (
        "все права защищены", "политика конфиденциальности", "использует файлы cookie", "пользовательское соглашение",
        "перейти к содержимому", "забыли пароль", "добавить в корзину",
    ),
    "tr": ("tüm hakları saklıdır", "gizlilik politikası", "çerez politikası", "içeriğe geç", "sepete ekle"),
    "sv": ("alla rättigheter förbehållna", "integritetspolicy", "använder cookies", "hoppa till innehåll"),
    "cs": ("všechna práva vyhrazena", "ochrana osobních údajů", "používá cookies", "přejít k obsahu"),
    "zh": ("版权所有", "隐私政策", "使用条款", "隐私权政策", "版權所有", "跳到主要内容", "加入购物车", "忘记密码"),
    "ja": ("プライバシーポリシー", "利用規約", "無断転載を禁じます", "コンテンツへスキップ", "カートに入れる"),
    "ko": ("개인정보처리방침", "이용약관", "모든 권리 보유", "본문 바로가기", "장바구니에 담기"),
    "ar": ("جميع الحقوق محفوظة", "سياسة الخصوصية", "شروط الاستخدام", "تخطي إلى المحتوى"),
    "hi": ("सर्वाधिकार सुरक्षित", "गोपनीयता नीति", "उपयोग की शर्तें"),
}  # fmt: skip
"""By language: rights, privacy and cookies, terms, logging in, carts, ways to other parts of the page."""


@functools.lru_cache(maxsize=1)
def navigation_phrases() -> "Phrases":
    """What `lines_refinedweb.correct` takes."""
    from gristmill.stages.kernels.lines_phrases import phrases

    return phrases((AT_START, AT_END, INSIDE, COUNTED))


@functools.lru_cache(maxsize=1)
def notice_phrases() -> "Phrases":
    """What `lines_boilerplate.count_boilerplate` takes: one kind, the notices of all languages."""
    from gristmill.stages.kernels.lines_phrases import phrases

    return phrases((tuple(phrase for of_one in NOTICES.values() for phrase in of_one),))
