"""Frequent function words by language, in lower case and at most eight bytes each.

English is the list of Gopher (Rae et al. 2021, section A.1.1). The others are our choice: eight of each language's most
frequent words, left out where English has them, too. They let a text whose language is not known pass as any of these.
Languages whose words are not set apart by spaces (Chinese, Japanese, Thai) have none.
"""

from collections.abc import Mapping

ENGLISH = ("the", "be", "to", "of", "and", "that", "have", "with")

LATIN_SCRIPT: Mapping[str, tuple[str, ...]] = {
    "en": ENGLISH,
    "ca": ("de", "la", "el", "els", "que", "per", "amb", "una"),
    "cs": ("na", "se", "že", "je", "jako", "nebo", "které", "pro"),
    "da": ("og", "det", "er", "af", "til", "som", "ikke", "blev"),
    "de": ("der", "die", "und", "das", "ist", "nicht", "mit", "von"),
    "es": ("de", "la", "que", "el", "los", "una", "por", "para"),
    "et": ("ja", "on", "ei", "et", "kui", "oli", "mis", "ka"),
    "fi": ("ja", "on", "ei", "että", "oli", "hän", "mutta", "tai"),
    "fr": ("le", "la", "les", "des", "est", "et", "une", "dans"),
    "hr": ("je", "se", "na", "da", "su", "koji", "ili", "za"),
    "hu": ("az", "és", "hogy", "nem", "egy", "meg", "csak", "volt"),
    "id": ("yang", "dan", "di", "itu", "dengan", "untuk", "ini", "dari"),
    "it": ("il", "di", "che", "la", "per", "una", "sono", "non"),
    "lt": ("ir", "kad", "yra", "su", "iš", "kaip", "bet", "apie"),
    "lv": ("un", "ir", "ar", "ka", "par", "kas", "bet", "tas"),
    "nl": ("de", "het", "een", "van", "dat", "niet", "met", "zijn"),
    "no": ("og", "det", "er", "av", "til", "som", "ikke", "ble"),
    "pl": ("nie", "się", "na", "jest", "że", "jak", "dla", "przez"),
    "pt": ("de", "que", "não", "uma", "para", "com", "os", "dos"),
    "ro": ("de", "și", "în", "nu", "este", "care", "pentru", "din"),
    "sk": ("na", "sa", "je", "že", "ako", "alebo", "ktoré", "pre"),
    "sl": ("je", "in", "na", "se", "da", "ki", "pa", "kot"),
    "sv": ("och", "att", "det", "som", "en", "är", "inte", "för"),
    "sw": ("ya", "na", "wa", "kwa", "ni", "katika", "kama", "hii"),
    "tl": ("ang", "ng", "mga", "sa", "na", "ay", "at", "hindi"),
    "tr": ("ve", "bir", "bu", "için", "ile", "olarak", "daha", "gibi"),
    "vi": ("và", "của", "là", "không", "một", "có", "cho", "các"),
}
"""By label of the `language` stage."""

OTHER_SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "ar": ("في", "من", "على", "أن", "إلى", "هذا", "عن", "ما"),
    "bg": ("на", "се", "да", "от", "за", "по", "като", "са"),
    "el": ("και", "το", "του", "της", "για", "να", "με", "που"),
    "fa": ("در", "به", "از", "که", "این", "را", "با", "است"),
    "he": ("של", "את", "על", "לא", "הוא", "זה", "עם", "או"),
    "hi": ("के", "का", "की", "से", "है", "को", "पर", "और"),
    "ko": ("수", "및", "이", "그", "있는", "있다", "한", "등"),
    "ru": ("в", "и", "на", "не", "что", "с", "как", "для"),
    "uk": ("і", "та", "що", "не", "для", "до", "як", "є"),
}
"""The same for scripts whose words are set apart by spaces."""
