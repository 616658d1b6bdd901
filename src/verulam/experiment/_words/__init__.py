"""Answers, tables and caveats in plain English, made from records."""
