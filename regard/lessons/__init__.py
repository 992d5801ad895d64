"""Lessons: attention explained, measured and shown. No other part of the library builds on them.

``explanation`` goes through attention step by step, with the numbers of every step; ``complexity``
measures what a layer costs, and how far signals travel through it.
"""
