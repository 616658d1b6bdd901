"""How learners are fitted and asked: weights and groups, several outputs, labels, intervals."""
