"""Finite probability spaces and random variables."""
