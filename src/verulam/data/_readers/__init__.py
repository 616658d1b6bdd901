"""Readers of tables in files of many formats, whole or in chunks."""
