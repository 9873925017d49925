"""Texts in en."""
