"""Lessons: attention explained, measured and shown. No other part of the library builds on them.

``explanation`` goes through attention step by step, with the numbers of every step; ``complexity``
measures what a layer costs, and how far signals travel through it. ``antecedents`` asks which
attention tells what a pronoun stands for, ``report`` puts the findings about one model on one page,
and ``demo`` finds them out.
"""
