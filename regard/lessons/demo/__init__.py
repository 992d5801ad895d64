"""The demo of `regard demo`: its recipe, what it finds out about a model, and what it keeps.

Read in this order: ``recipe`` (what is trained), ``pronouns`` (which sentences ask what "it" stands
for), ``readings`` (which attention tells it), ``findings`` (all that is found out) and ``folder``
(model, pictures, page and numbers).
"""

from regard.lessons.demo.findings import find
from regard.lessons.demo.folder import FORMATS, Folder, pronoun_pictures
from regard.lessons.demo.pronouns import (
    genders_differ,
    is_about_it,
    last_pronoun,
    rivals,
    score_pronouns,
)
from regard.lessons.demo.recipe import choose_extract, choose_recipe, earlier_recipe

__all__ = [
    "FORMATS",
    "Folder",
    "choose_extract",
    "choose_recipe",
    "earlier_recipe",
    "find",
    "genders_differ",
    "is_about_it",
    "last_pronoun",
    "pronoun_pictures",
    "rivals",
    "score_pronouns",
]
