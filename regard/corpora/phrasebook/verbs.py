"""The verbs: their forms in three languages, and what they ask of subject and object."""

from dataclasses import dataclass

from regard.corpora.phrasebook.conjugation import French, conjugate, english_forms

LIVING = "person animal"
GOODS = "clothes accessory furniture container tool toy paper picture bicycle"
FOUND = f"{GOODS} animal person vehicle"
SCENE = "building garden cave wild"

# English[/past/participle][+preposition] | Chinese, "·" where 了 may part it | French[+preposition]
#   | subjects | objects ("-": none) | marks:
# d lasts (is doing), s a state without 了, g an object in general, b a bare Chinese object
# w a state with 着, p no simple present (its English past looks the same), e French être,
# r somebody receives the object
ROWS = f"""
eat/ate/eaten | 吃 | manger | {LIVING} | food edible | d
drink/drank/drunk | 喝 | boire | {LIVING} | drink | d
read/read/read | 读 | lire | person | text | d p
write/wrote/written | 写 | écrire | person | text | d
watch | 看 | regarder | person | show | d
see/saw/seen | 看见 | voir | {LIVING} | {FOUND} {SCENE} |
like | 喜欢 | aimer | person | {FOUND} food edible drink sound melody | s g
hate | 讨厌 | détester | person | {FOUND} food edible drink sound melody | s g
know/knew/known | 认识 | connaître | person | person | s
buy/bought/bought | 买 | acheter | person | {GOODS} food edible drink vehicle | d
sell/sold/sold | 卖 | vendre | person | {GOODS} food edible drink vehicle | d
choose/chose/chosen | 选择 | choisir | person | {GOODS} food | d
use | 使用 | utiliser | person | tool | d
look+for | 找 | chercher | {LIVING} | {FOUND} food | d
find/found/found | 找到 | trouver | {LIVING} | {FOUND} food |
lose/lost/lost | 弄丢 | perdre | person | accessory tool toy bicycle container |
forget/forgot/forgotten | 忘记 | oublier | person | {GOODS} person |
hide/hid/hidden | 藏 | cacher | {LIVING} | accessory tool toy food container | d
break/broke/broken | 打破 | casser | {LIVING} | window cup |
wash | 洗 | laver | person | clothes food vehicle animal | d
clean | 打扫 | nettoyer | person | room building garden | d
repair | 修理 | réparer | person | vehicle bicycle machine tool furniture | d
draw/drew/drawn | 画 | dessiner | person | animal tree plant building person | d
build/built/built | 建造 | construire | person | building bridge barrier machine | d
drive/drove/driven | 开 | conduire | person | vehicle | d
open | 打开 | ouvrir | {LIVING} | opening container | d
close | 关上 | fermer | person | opening container | d
push | 推 | pousser | person strong machine | furniture vehicle opening | d
pull | 拉 | tirer | person strong machine | furniture vehicle container | d
carry/carried/carried | 搬 | transporter | person strong machine | furniture container | d
touch | 碰 | toucher | {LIVING} | {GOODS} |
throw/threw/thrown | 扔 | lancer | person | toy | d
cross | 过 | traverser | {LIVING} vehicle machine | road bridge stream | d b
cross | 穿过 | traverser | {LIVING} vehicle machine | land wild tunnel | d b
climb | 爬 | escalader | {LIVING} machine | height barrier | d
enter | 进入 | entrer+dans | {LIVING} machine | tunnel cave building | e
avoid | 避开 | éviter | {LIVING} vehicle machine | {LIVING} road stream barrier |
visit | 参观 | visiter | person | museum castle church library school | d
help | 帮助 | aider | person | {LIVING} | d
meet/met/met | 遇见 | rencontrer | person | person |
thank | 感谢 | remercier | person | person | d
invite | 邀请 | inviter | person | person |
wait+for | 等 | attendre | person | person vehicle | d
feed/fed/fed | 喂 | nourrir | person | animal | d
chase | 追 | poursuivre | animal | animal | d
bite/bit/bitten | 咬 | mordre | animal | person animal toy |
catch/caught/caught | 抓住 | attraper | {LIVING} machine | animal toy |
follow | 跟随 | suivre | {LIVING} machine | {LIVING} vehicle | d
listen+to | 听 | écouter | person | story poem sound melody | d
hear/heard/heard | 听见 | entendre | {LIVING} | {LIVING} vehicle |
recognise | 认出 | reconnaître | {LIVING} | person building clothes accessory |
admire | 欣赏 | admirer | person | picture {SCENE} plant | d
sleep/slept/slept | 睡·觉 | dormir | {LIVING} | - | d
run/ran/run | 跑·步 | courir | {LIVING} | - | d
swim/swam/swum | 游·泳 | nager | {LIVING} | - | d
sing/sang/sung | 唱·歌 | chanter | person | - | d
dance | 跳·舞 | danser | person | - | d
laugh | 笑 | rire | person | - | d
cry/cried/cried | 哭 | pleurer | person | - | d
work | 工作 | travailler | person | - | d
play | 玩 | jouer | {LIVING} | - | d
study/studied/studied | 学习 | étudier | person | - | d
cough | 咳嗽 | tousser | person | - | d
arrive | 到 | arriver | person vehicle | - | e
leave/left/left | 离开 | partir | person vehicle | - | e
come/came/come+back | 回来 | revenir | {LIVING} vehicle | - | e
fall/fell/fallen | 摔倒 | tomber | {LIVING} | - | e
go/went/gone+to | 去 | aller+à | person | building garden city | e b
live+in | 住在 | habiter+à | person | city | s b
wear | 穿 | porter | person | clothes | w
wear | 戴 | porter | person | accessory | w
hold/held/held | 拿 | tenir | person | tool toy paper container plant | w
give/gave/given | 给 | donner | person | {GOODS} food | r
send/sent/sent | 寄给 | envoyer | person | paper picture clothes | r
lend/lent/lent | 借给 | prêter | person | bicycle tool paper clothes | r
sell/sold/sold | 卖给 | vendre | person | vehicle bicycle furniture picture | r
"""


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """A verb; ``marks`` says which tenses and objects it takes (the table's letters)."""

    name: str
    english: tuple[str, str, str, str, str]  # base, -s, past, participle, -ing
    english_particle: str
    chinese: tuple[str, str]  # the second part follows 了 and 过
    french: French
    french_particle: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]  # sorts, or names of single nouns
    marks: str


def _read(line: str) -> Verb:
    english, chinese, french, subjects, objects, marks = (part.strip() for part in line.split("|"))
    english, _, particle = english.partition("+")
    french, _, preposition = french.partition("+")
    first, _, second = chinese.partition("·")
    base = english.partition("/")[0]
    return Verb(
        " ".join(filter(None, (base, particle)))
        + f" {chinese}" * (chinese in ("穿", "戴", "卖给", "穿过")),
        english_forms(english),
        particle,
        (first, second),
        conjugate(french),
        preposition,
        tuple(subjects.split()),
        tuple(objects.split()) if objects != "-" else (),
        marks,
    )


VERBS = {one.name: one for one in map(_read, ROWS.strip().splitlines())}
