"""Exploration: rules that try actions, schedules, bandits and learning automata."""
