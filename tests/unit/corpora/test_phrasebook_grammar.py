"""The grammar, sentence by sentence: each meaning in English, Chinese and French, proofread."""

import pytest

from regard.corpora.phrasebook import chinese, english, french, join
from regard.corpora.phrasebook.conjugation import conjugate, english_forms
from regard.corpora.phrasebook.lexicon import (
    ADJECTIVES,
    DETERMINERS,
    FREQUENCIES,
    IN_CITY,
    NOUNS,
    PLACES,
    TIMES,
    VERBS,
    WEATHER,
)
from regard.corpora.phrasebook.meaning import (
    Compound,
    Event,
    Existence,
    Meaning,
    NounPhrase,
    PlacePhrase,
    PredicateNoun,
    QualityPredicate,
    Relative,
)

TIME = {time.name: time for times in TIMES.values() for time in times}
FREQUENCY = {one.name: one for one in FREQUENCIES}
RELATION = {relation.name: relation for relation, _ in PLACES}
RAIN, SNOW = WEATHER


def np(text: str, relative: Relative | None = None, also: NounPhrase | None = None) -> NounPhrase:
    """A noun phrase: ``the|old|animal``, ``the|cat``, ``Tom``, or ``*cat`` for cats in general."""
    *before, noun = text.split("|")
    if noun.startswith("*"):
        return NounPhrase(NOUNS[noun[1:]], is_general=True)
    determiner = DETERMINERS[before[0]] if before else None
    adjective = ADJECTIVES[before[1]] if len(before) > 1 else None
    return NounPhrase(NOUNS[noun], determiner, adjective, relative, also)


def event(verb: str, tense: str, subject: object, thing: object = None, **more: object) -> Event:
    """An event whose phrases may be given as text."""
    first = np(subject) if isinstance(subject, str) else subject
    second = np(thing) if isinstance(thing, str) else thing
    return Event(VERBS[verb], tense, first, second, **more)  # type: ignore[arg-type]


def quality(subject: str, adjective: str, degree: str = "", **more: object) -> QualityPredicate:
    """A quality of a phrase given as text, in the present if nothing else is said."""
    tense = more.pop("tense", "present")
    phrase = np(subject) if "|" in subject or subject[0].isupper() else subject
    return QualityPredicate(phrase, ADJECTIVES[adjective], degree, tense, **more)  # type: ignore[arg-type]


def predicate(subject: str, noun: str, **more: object) -> PredicateNoun:
    """Somebody is something; ``*noun`` is the plural."""
    return PredicateNoun(np(subject), np(noun), **more)  # type: ignore[arg-type]


def place(relation: str, noun: str) -> PlacePhrase:
    return PlacePhrase(IN_CITY if relation == "city" else RELATION[relation], NOUNS[noun])


def who(verb: str, tense: str, thing: str | None = None, **more: object) -> Relative:
    """A relative clause about its subject."""
    other = np(thing) if thing else None
    return Relative("subject", VERBS[verb], tense, bool(more.get("no")), other)  # type: ignore[arg-type]


def that(subject: str, verb: str, tense: str, **more: object) -> Relative:
    """A relative clause about its object."""
    return Relative("object", VERBS[verb], tense, bool(more.get("no")), np(subject))  # type: ignore[arg-type]


GOLDEN: list[tuple[Meaning, str, str, str]] = [
    # tense, aspect, negation
    (event("eat", "past", "the|cat", "bread"),
     "The cat ate bread.", "这只猫吃了面包。", "Le chat a mangé du pain."),
    (event("drink", "past", "the|cow", "water", is_negated=True),
     "The cow didn't drink water.", "这头奶牛没有喝水。", "La vache n'a pas bu d'eau."),
    (event("drink", "present", "Anna", "water", frequency=FREQUENCY["often"]),
     "Anna often drinks water.", "安娜常常喝水。", "Anna boit souvent de l'eau."),
    (event("eat", "present", "we", "meat", is_negated=True),
     "We don't eat meat.", "我们不吃肉。", "Nous ne mangeons pas de viande."),
    (event("buy", "future", "I", "a|orange", time=TIME["tomorrow"]),
     "I will buy an orange tomorrow.", "我明天会买一个橙子。", "J'achèterai une orange demain."),
    (event("arrive", "future", "the|ambulance", is_negated=True),
     "The ambulance won't arrive.", "这辆救护车不会到。", "L'ambulance n'arrivera pas."),
    (event("sleep", "progressive", "the+|animal", place=place("in", "garden")),
     "The animals are sleeping in the garden.", "这些动物正在花园里睡觉。",
     "Les animaux sont en train de dormir dans le jardin."),
    (event("sleep", "progressive", "the|cat"),
     "The cat is sleeping.", "这只猫在睡觉。", "Le chat est en train de dormir."),
    (event("sleep", "progressive", "the|cat", time=TIME["now"]),
     "The cat is sleeping now.", "这只猫现在正在睡觉。",
     "Le chat est en train de dormir maintenant."),
    (event("eat", "progressive", "the|mouse", "cheese"),
     "The mouse is eating cheese.", "这只老鼠正在吃奶酪。",
     "La souris est en train de manger du fromage."),
    (event("eat", "progressive", "you", "cheese", question="whether"),
     "Are you eating cheese?", "你在吃奶酪吗？",
     "Est-ce que tu es en train de manger du fromage ?"),
    (event("swim", "progressive", np("the|girl", who("look for", "progressive", "my|ball"))),
     "The girl who is looking for my ball is swimming.", "在找我的球的这个女孩在游泳。",
     "La fille qui est en train de chercher mon ballon est en train de nager."),
    (event("work", "progressive", "the|doctor", is_negated=True),
     "The doctor isn't working.", "这位医生没有在工作。",
     "Le médecin n'est pas en train de travailler."),
    (event("write", "progressive", "I", "a|letter", is_negated=True),
     "I am not writing a letter.", "我没有在写一封信。",
     "Je ne suis pas en train d'écrire une lettre."),
    (event("read", "already", "the|student", "that|novel"),
     "The student has already read that novel.", "这个学生已经读了那本小说。",
     "L'étudiant a déjà lu ce roman."),
    (event("see", "never", "you", "the|owl"),
     "You have never seen the owl.", "你从来没有看见过这只猫头鹰。", "Tu n'as jamais vu le hibou."),
    (event("dance", "never", "they"),
     "They have never danced.", "他们从来没有跳过舞。", "Ils n'ont jamais dansé."),
    (event("sing", "past", "two|old|man"),
     "Two old men sang.", "两个年老的男人唱了歌。", "Deux vieux hommes ont chanté."),
    (event("wear 穿", "state", "the|girl", "a|white|dress"),
     "The girl is wearing a white dress.", "这个女孩穿着一条白色的裙子。",
     "La fille porte une robe blanche."),
    (event("wear 戴", "state", "the|king", "my|hat"),
     "The king is wearing my hat.", "这位国王戴着我的帽子。", "Le roi porte mon chapeau."),
    (event("swim", "can", "the|child", is_negated=True),
     "The child can't swim.", "这个孩子不能游泳。", "L'enfant ne peut pas nager."),
    (event("leave", "want", "she", is_negated=True),
     "She doesn't want to leave.", "她不想离开。", "Elle ne veut pas partir."),
    (event("work", "must", "the+|farmer", time=TIME["every day"]),
     "The farmers must work every day.", "这些农民每天必须工作。",
     "Les agriculteurs doivent travailler tous les jours."),
    # être, agreement, prepositions, contraction
    (event("come back", "past", "the+|nurse", time=TIME["last night"], is_time_first=True),
     "Last night, the nurses came back.", "昨晚，这些护士回来了。",
     "Hier soir, les infirmières sont revenues."),
    (event("go to", "past", "she", "the|hospital"),
     "She went to the hospital.", "她去了医院。", "Elle est allée à l'hôpital."),
    (event("go to", "past", np("Anna", also=np("Tom")), "the|market"),
     "Anna and Tom went to the market.", "安娜和汤姆去了市场。",
     "Anna et Tom sont allés au marché."),
    (event("enter", "past", "the|goat", "that|cave", is_negated=True),
     "The goat didn't enter that cave.", "这只山羊没有进入那个山洞。",
     "La chèvre n'est pas entrée dans cette grotte."),
    (event("live in", "present", "my|friend", "London"),
     "My friend lives in London.", "我的朋友住在伦敦。", "Mon ami habite à Londres."),
    (event("run", "past", "I", place=place("near", "lake")),
     "I ran near the lake.", "我在湖附近跑了步。", "J'ai couru près du lac."),
    (event("meet", "past", "he", "several|engineer", place=place("city", "Beijing")),
     "He met several engineers in Beijing.", "他在北京遇见了几位工程师。",
     "Il a rencontré plusieurs ingénieurs à Pékin."),
    # determiners and adjectives
    (event("know", "present", "the|old|man", "your|new|teacher"),
     "The old man knows your new teacher.", "这个年老的男人认识你的新老师。",
     "Le vieil homme connaît ton nouveau professeur."),
    (event("lose", "past", "Mary", "my|scarf"),
     "Mary lost my scarf.", "玛丽弄丢了我的围巾。", "Marie a perdu mon écharpe."),
    (event("open", "past", "the two|monkey", "that|small|box"),
     "The two monkeys opened that small box.", "这两只猴子打开了那个小盒子。",
     "Les deux singes ont ouvert cette petite boîte."),
    (event("see", "past", "many|tourist", "that|animal"),
     "Many tourists saw that animal.", "很多游客看见了那只动物。",
     "Beaucoup de touristes ont vu cet animal."),
    (event("chase", "past", "the|fox", "those|white|hen"),
     "The fox chased those white hens.", "这只狐狸追了那些白色的母鸡。",
     "Le renard a poursuivi ces poules blanches."),
    (event("like", "present", "the|woman", "*cat"),
     "The woman likes cats.", "这个女人喜欢猫。", "La femme aime les chats."),
    # giving
    (event("give", "past", "the|queen", "a|apple", recipient=np("the|boy")),
     "The queen gave an apple to the boy.", "这位女王给了这个男孩一个苹果。",
     "La reine a donné une pomme au garçon."),
    (event("send", "future", "Peter", "the|letter", recipient=np("the+|child")),
     "Peter will send the letter to the children.", "彼得会寄给这些孩子这封信。",
     "Pierre enverra la lettre aux enfants."),
    # questions
    (event("like", "present", "he", NounPhrase(NOUNS["coffee"], is_general=True),
           question="whether"),
     "Does he like coffee?", "他喜欢咖啡吗？", "Est-ce qu'il aime le café ?"),
    (event("eat", "past", None, "my|sandwich", question="who"),
     "Who ate my sandwich?", "谁吃了我的三明治？", "Qui a mangé mon sandwich ?"),
    (event("look for", "progressive", "Anna", question="what"),
     "What is Anna looking for?", "安娜在找什么？",
     "Qu'est-ce qu'Anna est en train de chercher ?"),
    (event("sleep", "past", "the|bear", question="where"),
     "Where did the bear sleep?", "这头熊是在哪里睡觉的？", "Où est-ce que l'ours a dormi ?"),
    (event("leave", "future", "the+|writer", question="when"),
     "When will the writers leave?", "这些作家什么时候会离开？",
     "Quand est-ce que les écrivains partiront ?"),
    (quality("my|watch", "expensive", question="whether"),
     "Is my watch expensive?", "我的手表贵吗？", "Est-ce que ma montre est chère ?"),
    # qualities and comparison
    (quality("Mary", "happy", "very", tense="past", time=TIME["yesterday"]),
     "Mary was very happy yesterday.", "玛丽昨天非常高兴。", "Marie était très heureuse hier."),
    (quality("those|pear", "hard", is_negated=True),
     "Those pears aren't hard.", "那些梨不硬。", "Ces poires ne sont pas dures."),
    (quality("the+|wall", "high", "too"),
     "The walls are too high.", "这些墙太高了。", "Les murs sont trop hauts."),
    (quality("the|giraffe", "big", "more", than=np("that|elephant")),
     "The giraffe is bigger than that elephant.", "这只长颈鹿比那头大象更大。",
     "La girafe est plus grande que cet éléphant."),
    (quality("Anna", "patient", "as", than=np("Henry")),
     "Anna is as patient as Henry.", "安娜和亨利一样耐心。",
     "Anna est aussi patiente qu'Henri."),
    (quality("our|car", "ancient"),
     "Our car is old.", "我们的汽车很旧。", "Notre voiture est vieille."),
    # predicate nouns
    (predicate("Anna", "a|doctor"), "Anna is a doctor.", "安娜是医生。", "Anna est médecin."),
    (predicate("I", "a|engineer", is_negated=True),
     "I am not an engineer.", "我不是工程师。", "Je ne suis pas ingénieur."),
    (predicate("you", "a|student", question="whether"),
     "Are you a student?", "你是学生吗？", "Est-ce que tu es étudiant ?"),
    (predicate("we", "*teacher"), "We are teachers.", "我们是老师。", "Nous sommes professeurs."),
    (predicate("those|woman", "*nurse", is_negated=True),
     "Those women aren't nurses.", "那些女人不是护士。", "Ces femmes ne sont pas infirmières."),
    (predicate("Tom", "my|friend"), "Tom is my friend.", "汤姆是我的朋友。", "Tom est mon ami."),
    (predicate("that|animal", "a|owl"),
     "That animal is an owl.", "那只动物是猫头鹰。", "Cet animal est un hibou."),
    (predicate("the+|animal", "*tortoise", is_negated=True),
     "The animals aren't tortoises.", "这些动物不是乌龟。",
     "Les animaux ne sont pas des tortues."),
    # existence
    (Existence(np("a|yellow|bicycle"), place("behind", "school")),
     "There is a yellow bicycle behind the school.", "学校后面有一辆黄色的自行车。",
     "Il y a un vélo jaune derrière l'école."),
    # relative clauses
    (event("sleep", "progressive", np("the|dog", who("eat", "past", "my|sausage"))),
     "The dog that ate my sausage is sleeping.", "吃了我的香肠的这只狗在睡觉。",
     "Le chien qui a mangé ma saucisse est en train de dormir."),
    (event("like", "present", "Tom", np("the|song", that("Lucy", "listen to", "past"))),
     "Tom likes the song that Lucy listened to.", "汤姆喜欢露西听的这首歌。",
     "Tom aime la chanson que Lucie a écoutée."),
    (event("leave", "past", np("those|singer", that("I", "invite", "past"))),
     "Those singers that I invited left.", "我邀请的那些歌手离开了。",
     "Ces chanteuses que j'ai invitées sont parties."),
    (event("know", "present", "we", np("the|woman", who("fall", "past"))),
     "We know the woman who fell.", "我们认识摔倒的这个女人。",
     "Nous connaissons la femme qui est tombée."),
    # two clauses
    (Compound(event("cross", "past", "the|frog", "the|path", is_negated=True), "because",
              quality("object", "slippery", "too", tense="past")),
     "The frog didn't cross the path because it was too slippery.",
     "这只青蛙没有过小路，因为它太滑了。",
     "La grenouille n'a pas traversé le sentier parce qu'il était trop glissant."),
    (Compound(event("cross 穿过", "future", "the|truck", "the|tunnel", is_negated=True), "because",
              quality("subject", "heavy", "too")),
     "The truck won't cross the tunnel because it is too heavy.",
     "这辆卡车不会穿过隧道，因为它太重了。",
     "Le camion ne traversera pas le tunnel parce qu'il est trop lourd."),
    (Compound(event("buy", "past", "the|dancer", "the|table", is_negated=True), "because",
              quality("subject", "tired", "too", tense="past")),
     "The dancer didn't buy the table because she was too tired.",
     "这位舞蹈家没有买这张桌子，因为她太累了。",
     "La danseuse n'a pas acheté la table parce qu'elle était trop fatiguée."),
    (Compound(event("climb", "past", "the|ant", "the|mountain"), "but",
              quality("object", "steep", "very", tense="past")),
     "The ant climbed the mountain, but it was very steep.",
     "这只蚂蚁爬了这座山，但是它非常陡。",
     "La fourmi a escaladé la montagne, mais elle était très raide."),
    (Compound(event("cry", "was doing", "the+|child"), "when",
              event("arrive", "past", "the|actor")),
     "When the actor arrived, the children were crying.", "当这位演员到的时候，这些孩子正在哭。",
     "Quand l'acteur est arrivé, les enfants étaient en train de pleurer."),
    (Compound(event("play", "future", "we", is_negated=True), "if", RAIN),
     "If it rains, we won't play.", "如果下雨，我们不会玩。", "S'il pleut, nous ne jouerons pas."),
    (Compound(event("work", "future", "Henry", place=place("in", "office")), "if", SNOW),
     "If it snows, Henry will work in the office.", "如果下雪，亨利会在办公室里工作。",
     "S'il neige, Henri travaillera dans le bureau."),
]  # fmt: skip


@pytest.mark.parametrize(("meaning", "en", "zh", "fr"), GOLDEN, ids=[row[1] for row in GOLDEN])
def test_one_meaning_in_three_languages(meaning: Meaning, en: str, zh: str, fr: str) -> None:
    assert join(english.realise(meaning).words, "en") == en
    assert join(chinese.realise(meaning).words, "zh") == zh
    assert join(french.realise(meaning).words, "fr") == fr


@pytest.mark.parametrize(
    ("entry", "forms"),
    [
        ("cross", ("cross", "crosses", "crossed", "crossed", "crossing")),
        ("hate", ("hate", "hates", "hated", "hated", "hating")),
        ("run/ran/run", ("run", "runs", "ran", "run", "running")),
        ("study/studied/studied", ("study", "studies", "studied", "studied", "studying")),
        ("play", ("play", "plays", "played", "played", "playing")),
        ("go/went/gone", ("go", "goes", "went", "gone", "going")),
    ],
)
def test_english_verbs(entry: str, forms: tuple[str, ...]) -> None:
    assert english_forms(entry) == forms


@pytest.mark.parametrize(
    ("infinitive", "present", "future", "participle"),
    [
        ("chanter", "chante chantes chante chantons chantent", "chanterai", "chanté"),
        ("manger", "mange manges mange mangeons mangent", "mangerai", "mangé"),
        ("acheter", "achète achètes achète achetons achètent", "achèterai", "acheté"),
        ("nettoyer", "nettoie nettoies nettoie nettoyons nettoient", "nettoierai", "nettoyé"),
        ("envoyer", "envoie envoies envoie envoyons envoient", "enverrai", "envoyé"),
        ("voir", "vois vois voit voyons voient", "verrai", "vu"),
        ("étudier", "étudie étudies étudie étudions étudient", "étudierai", "étudié"),
    ],
)
def test_french_verbs(infinitive: str, present: str, future: str, participle: str) -> None:
    forms = conjugate(infinitive)
    assert " ".join(forms.present) == present
    assert forms.future[0] == future
    assert forms.participle[0] == participle


def test_a_participle_in_s_keeps_its_masculine_plural() -> None:
    assert conjugate("construire").participle == (
        "construit", "construite", "construits", "construites",
    )  # fmt: skip


def test_no_two_meanings_share_a_word_where_nothing_tells_them_apart() -> None:
    for nouns in ({n.english for n in NOUNS.values()}, {n.chinese for n in NOUNS.values()}):
        assert len(nouns) == len(NOUNS)
    assert len({noun.french for noun in NOUNS.values()}) == len(NOUNS)
    # "old" is 老 of what lives and 旧 of what does not: the noun decides.
    assert len({a.english for a in ADJECTIVES.values()}) == len(ADJECTIVES) - 1
    assert not set(ADJECTIVES["old"].sorts) & set(ADJECTIVES["ancient"].sorts)
