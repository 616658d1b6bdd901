"""Trainers by descent, equations and linear programs."""
