"""Markov decision processes: their tables, planning, and worlds that follow them."""
