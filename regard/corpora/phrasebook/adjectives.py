"""The adjectives: what they are called, and what they can be said of."""

from dataclasses import dataclass

LIVING = "person animal"
THING = "clothes accessory furniture container tool toy picture vehicle bicycle machine"
PLACE = "building garden room"
WAY = "road bridge tunnel"

# English[/comparative] | Chinese[/before a noun] | French masculine/feminine[/before a vowel]
#   | place in French | what it can be said of
ROWS = f"""
tired | 累/- | fatigué | after | {LIVING}
hungry/hungrier | 饿/- | affamé | after | {LIVING}
thirsty/thirstier | 渴/- | assoiffé | after | {LIVING}
frightened | 害怕/- | effrayé | after | {LIVING}
weak/weaker | 虚弱/虚弱的 | faible | after | {LIVING}
lazy/lazier | 懒/懒 | paresseux/paresseuse | after | {LIVING}
sad/sadder | 伤心/伤心的 | triste | after | {LIVING}
happy/happier | 高兴/高兴的 | heureux/heureuse | after | {LIVING}
angry/angrier | 生气/生气的 | fâché | after | {LIVING}
nervous | 紧张/紧张的 | nerveux/nerveuse | after | {LIVING}
shy/shyer | 害羞/害羞的 | timide | after | {LIVING}
curious | 好奇/好奇的 | curieux/curieuse | after | {LIVING}
brave/braver | 勇敢/勇敢的 | courageux/courageuse | after | {LIVING}
clever/cleverer | 聪明/聪明的 | intelligent | after | {LIVING}
strong/stronger | 强壮/强壮的 | fort | after | {LIVING}
young/younger | 年轻/年轻的 | jeune | before | {LIVING}
old/older | 老/年老的 | vieux/vieille/vieil | before | {LIVING}
busy/busier | 忙/- | occupé | after | person
rich/richer | 富有/富有的 | riche | after | person
polite | 礼貌/礼貌的 | poli | after | person
patient | 耐心/耐心的 | patient | after | person
ancient=old/older | 旧/旧 | vieux/vieille/vieil | before | {THING} {PLACE} paper bridge
new/newer | -/新 | nouveau/nouvelle/nouvel | before | {THING} {PLACE} paper show bridge
big/bigger | 大/大 | grand | before | animal {THING} {PLACE} food cave tree opening land stream wild
small/smaller | 小/小 | petit | before | animal {THING} {PLACE} food cave tree opening plant
beautiful | 漂亮/漂亮的 | beau/belle/bel | before | animal clothes accessory {PLACE} plant tree
heavy/heavier | 重/沉重的 | lourd | after | vehicle machine furniture container opening bicycle
light/lighter | 轻/轻的 | léger/légère | after | bicycle furniture container tool clothes
expensive | 贵/昂贵的 | cher/chère | after | {THING}
dirty/dirtier | 脏/脏的 | sale | after | {THING} food opening
clean/cleaner | 干净/干净的 | propre | after | {THING} {PLACE} opening
long/longer | 长/长 | long/longue | before | {WAY} text show clothes sound
short/shorter | 短/短 | court | after | {WAY} text show clothes sound
wide/wider | 宽/宽的 | large | after | {WAY} stream land
narrow/narrower | 窄/窄的 | étroit | after | {WAY} opening
deep/deeper | 深/深的 | profond | after | stream
cold/colder | 冷/冷的 | froid | after | stream food room wild cave
steep/steeper | 陡/陡的 | raide | after | height
high/higher | 高/高 | haut | after | height barrier
slippery/more slippery | 滑/滑的 | glissant | after | {WAY} height
dangerous | 危险/危险的 | dangereux/dangereuse | after | {WAY} stream wild height cave
dark/darker | 暗/昏暗的 | sombre | after | tunnel cave room building
noisy/noisier | 吵/吵闹的 | bruyant | after | {PLACE} vehicle
quiet/quieter | 安静/安静的 | calme | after | {PLACE} wild
salty/saltier | 咸/咸的 | salé | after | savoury baked
sweet/sweeter | 甜/甜的 | sucré | after | fruit baked
bitter | 苦/苦的 | amer/amère | after | fruit
sour | 酸/酸的 | acide | after | fruit
hard/harder | 硬/硬的 | dur | after | food
fresh/fresher | 新鲜/新鲜的 | frais/fraîche | after | food
delicious | 好吃/好吃的 | délicieux/délicieuse | after | food
spicy/spicier | 辣/辣的 | épicé | after | savoury
interesting | 有趣/有趣的 | intéressant | after | text show picture sound
boring | 无聊/无聊的 | ennuyeux/ennuyeuse | after | text show sound
difficult | 难/难的 | difficile | after | text
slow/slower | 慢/慢的 | lent | after | vehicle machine bicycle
fast/faster | 快/快的 | rapide | after | vehicle machine bicycle
red | -/红色的 | rouge | after | {THING} plant opening
blue | -/蓝色的 | bleu | after | {THING} plant opening
green | -/绿色的 | vert | after | {THING} opening
black | -/黑色的 | noir | after | {THING} animal opening
white | -/白色的 | blanc/blanche | after | {THING} animal plant opening
yellow | -/黄色的 | jaune | after | {THING} plant opening
"""


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective; an empty ``chinese`` says nothing of a subject, an empty ``before`` no noun."""

    name: str
    english: str
    comparative: tuple[str, ...]
    chinese: str
    before: tuple[str, ...]  # the Chinese words before a noun
    french: tuple[str, str, str, str]  # masculine, feminine, their plurals
    liaison: str  # French masculine before a vowel
    is_early: bool  # stands before the French noun
    sorts: tuple[str, ...]


def _plural(word: str) -> str:
    if word.endswith(("s", "x")):
        return word
    return word + ("x" if word.endswith("eau") else "s")


def _read(line: str) -> Adjective:
    english, chinese, french, place, sorts = line.split(" | ")
    name, _, spelling = english.rpartition("=")
    positive, _, comparative = spelling.partition("/")
    predicate, _, before = chinese.partition("/")
    masculine, *others = french.split("/")
    feminine = others[0] if others else masculine + ("" if masculine.endswith("e") else "e")
    words = ("" if before == "-" else before).partition("的")
    return Adjective(
        name or positive,
        positive,
        tuple((comparative or f"more {positive}").split()),
        predicate.replace("-", ""),
        tuple(word for word in words if word),
        (masculine, feminine, _plural(masculine), _plural(feminine)),
        others[1] if len(others) > 1 else masculine,
        place == "before",
        tuple(sorts.split()),
    )


ADJECTIVES = {one.name: one for one in map(_read, ROWS.strip().splitlines())}
