"""Lines and words by which the parts of a book are known: headings, stamps, words for "chapter".

Compared by their normal form (`kernels.line_keys`), so that case, numbers and punctuation do not matter. The languages
are those of the stop words that ship, and Chinese, Japanese, Russian, Korean. Collected from books and manuals; a
heading that is not here is not found, which keeps what stands under it.
"""

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gristmill.stages.kernels.line_keys import KeyTable

CONTENTS = (
    "contents|table of contents|list of contents|the contents|contents of volume 1|list of illustrations"
    "|illustrations|list of figures|list of tables|list of plates|list of maps|chapter page|page|inhalt"
    "|inhaltsverzeichnis|table des matières|sommaire|table des illustrations|índice|índice general"
    "|tabla de contenido|contenido|sumario|indice|indice generale|sommario|conteúdo|inhoud|inhoudsopgave"
    "|spis treści|obsah|innehåll|innehållsförteckning|indhold|innhold|sisällys|sisällysluettelo"
    "|içindekiler|cuprins|tartalom|tartalomjegyzék|содержание|оглавление|目 录|目 錄|目 次|目录|目錄|目次"
    "|もくじ|차례|목차"
    "|περιεχόμενα"
)
INDEX_HEADS = (
    "index|general index|subject index|index of subjects|index of names|author index|name index"
    "|index of persons|alphabetical index|register|sachregister|namensregister|stichwortverzeichnis"
    "|index général|index alphabétique|índice alfabético|índice analítico|indice analitico"
    "|indice dei nomi|skorowidz|indeks|rejstřík|tárgymutató|указатель|предметный указатель"
    "|именной указатель|алфавитный указатель|索引|索 引|찾아보기|색인"
)
REFERENCE_HEADS = (
    "references|reference list|bibliography|selected bibliography|works cited|literature cited"
    "|cited works|references and notes|notes and references|further reading|sources|literatur"
    "|literaturverzeichnis|quellen|einzelnachweise|références|bibliographie|notes et références"
    "|referencias|bibliografía|obras citadas|riferimenti|bibliografia|note|referências|literatuur"
    "|referenties|przypisy|reference|literatura|литература|примечания|список литературы|参考文献|参考资料"
    "|參考文獻|脚注"
    "|注釈|출처|각주|참고 문헌"
)
STAMPS = (
    "digitized by google|digitized by|digitized by microsoft|digitized by the internet archive"
    "|digitized by the internet archive in 2007|digitized by google original from|original from"
    "|digitized by the internet archive in 2007 with funding from microsoft corporation"
    "|http://www.archive.org/details/|public domain, google-digitized|google-digitized"
    "|http://www.hathitrust.org/access_use#pd-google|http://www.hathitrust.org/access_use#pd-us-google"
    "|uploaded by|scanned by google|byGoogle|by google"
)
PAGE_LINES = (
    "page 1|page 1 of 2|p. 1|pg 1|[pg 1]|seite 1|s. 1|page n° 1|página 1|pagina 1|pág. 1|strona 1"
    "|strana 1|sida 1|side 1|sivu 1|sayfa 1|oldal 1|страница 1|стр. 1|第1页|第1頁|第 1 页|第 1 頁|1 页"
    "|1 ページ|1ページ"
    "|1 쪽|1쪽"
)
CHAPTER_WORDS = (
    "chapter|chap|part|book|section|lecture|letter|act|scene|canto|lesson|appendix|epoch|volume|kapitel"
    "|teil|buch|abschnitt|anhang|chapitre|partie|livre|leçon|annexe|capítulo|parte|libro|sección|capitolo"
    "|sezione|capitulo|livro|hoofdstuk|deel|rozdział|część|kapitola|část|luku|osa|bölüm|kısım|capitolul"
    "|fejezet|rész|глава|часть|книга|раздел"
)


@functools.lru_cache(maxsize=1)
def known_lines() -> "KeyTable":
    """All of the above as one table of `page_lines`."""
    from gristmill.stages.kernels.line_keys import key_table
    from gristmill.stages.kernels.page_line_kinds import CHAPTER_WORD
    from gristmill.stages.kernels.page_lines import INDEX, NUMBER, REFERENCES, STAMP, TOC

    values: dict[str, int] = {}
    for lines, kind in (
        (CHAPTER_WORDS, CHAPTER_WORD),
        (STAMPS, STAMP),
        (PAGE_LINES, NUMBER),
        (REFERENCE_HEADS, REFERENCES),
        (INDEX_HEADS, INDEX),
        (CONTENTS, TOC),
    ):
        values |= dict.fromkeys(lines.split("|"), kind)
    return key_table(values)
