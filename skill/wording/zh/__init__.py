"""Texts in zh."""
