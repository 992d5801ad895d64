"""Determiners, times, frequencies and places: the closed classes."""

from regard.corpora.phrasebook.meaning import Adverbial, Determiner
from regard.corpora.phrasebook.nouns import NOUNS, Noun

# English | Chinese, "M" where the measure word comes | French | number
_DETERMINERS = """
the | 这 M | le/la/le/la | one
that | 那 M | ce/cette/cet/cette | one
a | 一 M | un/une/un/une | one
the+ | 这些 | les | many
those | 那些 | ces | many
two | 两 M | deux | many
three | 三 M | trois | many
four | 四 M | quatre | many
five | 五 M | cinq | many
several | 几 M | plusieurs | many
many | 很多 | beaucoup de | many
the two | 这 两 M | les deux | many
the three | 这 三 M | les trois | many
my | 我 的 | mon/ma/mon/mon | one
your | 你 的 | ton/ta/ton/ton | one
our | 我们 的 | notre | one
their | 他们 的 | leur | one
"""


def _determiner(line: str) -> Determiner:
    english, chinese, french, number = line.split(" | ")
    forms = tuple(tuple(form.split()) for form in french.split("/"))
    return Determiner(
        english,
        tuple(english.rstrip("+").split()),
        tuple(word for word in chinese.split() if word != "M"),
        chinese.endswith("M"),
        forms * 4 if len(forms) == 1 else forms,
        number == "many",
    )


def _adverbials(table: str) -> tuple[Adverbial, ...]:
    found = []
    for line in table.strip().splitlines():
        english, chinese, french = (tuple(part.split()) for part in line.split(" | "))
        found.append(Adverbial(" ".join(english), english, chinese, french))
    return tuple(found)


DETERMINERS = {d.name: d for d in map(_determiner, _DETERMINERS.strip().splitlines())}

TIMES = {
    "past": _adverbials("""
yesterday | 昨天 | hier
last night | 昨晚 | hier soir
last week | 上 周 | la semaine dernière
last month | 上 个 月 | le mois dernier
last year | 去年 | l' année dernière
this morning | 今天 早上 | ce matin
two days ago | 两 天 前 | il y a deux jours
"""),
    "future": _adverbials("""
tomorrow | 明天 | demain
tonight | 今晚 | ce soir
next week | 下 周 | la semaine prochaine
next month | 下 个 月 | le mois prochain
next year | 明年 | l' année prochaine
"""),
    "present": _adverbials("""
every day | 每天 | tous les jours
every morning | 每天 早上 | tous les matins
every week | 每 周 | toutes les semaines
every year | 每年 | tous les ans
"""),
    "progressive": _adverbials("now | 现在 | maintenant\n"),
}
FREQUENCIES = _adverbials("""
often | 常常 | souvent
always | 总是 | toujours
sometimes | 有时候 | parfois
rarely | 很少 | rarement
""")
WEATHER = _adverbials("""
it rains | 下雨 | il pleut
it snows | 下雪 | il neige
""")

_IN, _ON, _UNDER, _BEHIND, _BEFORE, _NEAR, IN_CITY = _adverbials("""
in | 里 | dans
on | 上 | sur
under | 下面 | sous
behind | 后面 | derrière
in front of | 前面 | devant
near | 附近 | près de
in | - | à
""")


def _nouns(names: str) -> tuple[Noun, ...]:
    return tuple(NOUNS[name] for name in names.split())


# Where people and animals do things: relation, nouns.
PLACES = (
    (_IN, _nouns("garden park kitchen office garage forest library museum restaurant house")),
    (_BEHIND, _nouns("house school church castle hotel wall station theatre")),
    (_BEFORE, _nouns("house school hospital shop museum theatre library door")),
    (_NEAR, _nouns("river lake station bridge market castle church forest park")),
    (_UNDER, _nouns("tree bridge")),
)
# Where things are found.
SURFACES = (
    (_ON, _nouns("table chair bed piano")),
    (_UNDER, _nouns("table chair bed tree")),
    (_IN, _nouns("box suitcase bag kitchen car office")),
    (_NEAR, _nouns("door window lamp")),
)
