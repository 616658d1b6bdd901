"""Rules learned from data: covering, description lengths, first-order clauses."""
