"""The forms of English and French verbs: rules, and what breaks them."""

from dataclasses import dataclass

ENDINGS = ("e", "es", "e", "ons", "ent")
FUTURE = ("ai", "as", "a", "ons", "ont")
DOUBLED = {"run", "swim", "forget"}

# French infinitive: je tu il nous ils, stem of the future, past participle
IRREGULAR = {
    "acheter": ("achète achètes achète achetons achètent", "achèter", "acheté"),
    "aller": ("vais vas va allons vont", "ir", "allé"),
    "attendre": ("attends attends attend attendons attendent", "attendr", "attendu"),
    "boire": ("bois bois boit buvons boivent", "boir", "bu"),
    "choisir": ("choisis choisis choisit choisissons choisissent", "choisir", "choisi"),
    "conduire": ("conduis conduis conduit conduisons conduisent", "conduir", "conduit"),
    "connaître": ("connais connais connaît connaissons connaissent", "connaîtr", "connu"),
    "construire": (
        "construis construis construit construisons construisent",
        "construir",
        "construit",
    ),
    "courir": ("cours cours court courons courent", "courr", "couru"),
    "devoir": ("dois dois doit devons doivent", "devr", "dû"),
    "dormir": ("dors dors dort dormons dorment", "dormir", "dormi"),
    "écrire": ("écris écris écrit écrivons écrivent", "écrir", "écrit"),
    "entendre": ("entends entends entend entendons entendent", "entendr", "entendu"),
    "envoyer": ("envoie envoies envoie envoyons envoient", "enverr", "envoyé"),
    "lire": ("lis lis lit lisons lisent", "lir", "lu"),
    "lancer": ("lance lances lance lançons lancent", "lancer", "lancé"),
    "manger": ("mange manges mange mangeons mangent", "manger", "mangé"),
    "mordre": ("mords mords mord mordons mordent", "mordr", "mordu"),
    "nager": ("nage nages nage nageons nagent", "nager", "nagé"),
    "nettoyer": ("nettoie nettoies nettoie nettoyons nettoient", "nettoier", "nettoyé"),
    "nourrir": ("nourris nourris nourrit nourrissons nourrissent", "nourrir", "nourri"),
    "ouvrir": ("ouvre ouvres ouvre ouvrons ouvrent", "ouvrir", "ouvert"),
    "partir": ("pars pars part partons partent", "partir", "parti"),
    "perdre": ("perds perds perd perdons perdent", "perdr", "perdu"),
    "poursuivre": ("poursuis poursuis poursuit poursuivons poursuivent", "poursuivr", "poursuivi"),
    "pouvoir": ("peux peux peut pouvons peuvent", "pourr", "pu"),
    "reconnaître": (
        "reconnais reconnais reconnaît reconnaissons reconnaissent",
        "reconnaîtr",
        "reconnu",
    ),
    "revenir": ("reviens reviens revient revenons reviennent", "reviendr", "revenu"),
    "rire": ("ris ris rit rions rient", "rir", "ri"),
    "suivre": ("suis suis suit suivons suivent", "suivr", "suivi"),
    "tenir": ("tiens tiens tient tenons tiennent", "tiendr", "tenu"),
    "vendre": ("vends vends vend vendons vendent", "vendr", "vendu"),
    "voir": ("vois vois voit voyons voient", "verr", "vu"),
    "vouloir": ("veux veux veut voulons veulent", "voudr", "voulu"),
}


@dataclass(frozen=True, slots=True)
class French:
    """The forms of a French verb for je, tu, il, nous, ils; participle m, f, and their plurals."""

    infinitive: str
    present: tuple[str, ...]
    future: tuple[str, ...]
    participle: tuple[str, str, str, str]


def conjugate(infinitive: str) -> French:
    """All forms used here of a regular verb in -er, or of one in the table."""
    if infinitive in IRREGULAR:
        forms, stem, participle = IRREGULAR[infinitive]
        present = tuple(forms.split())
    else:
        assert infinitive.endswith("er"), infinitive
        root, stem = infinitive[:-2], infinitive
        present, participle = tuple(root + ending for ending in ENDINGS), root + "é"
    masculine = participle if participle.endswith("s") else participle + "s"
    return French(
        infinitive,
        present,
        tuple(stem + ending for ending in FUTURE),
        (participle, participle + "e", masculine, participle + "es"),
    )


def english_forms(entry: str) -> tuple[str, str, str, str, str]:
    """Base, -s, past, participle and -ing of an entry such as ``eat/ate/eaten`` or ``cross``."""
    base, *irregular = entry.split("/")
    if base.endswith(("s", "sh", "ch", "o")):
        present = base + "es"
    elif base.endswith("y") and base[-2] not in "aeiou":
        present = base[:-1] + "ies"
    else:
        present = base + "s"
    past = base + ("d" if base.endswith("e") else "ed")
    stem = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    if base in DOUBLED:
        stem += base[-1]
    first, second = irregular or (past, past)
    return base, present, first, second, stem + "ing"
