"""Lessons: attention explained, measured and shown. No other part of the library builds on them.

``complexity`` measures what a layer costs, and how far signals travel through it.
"""
