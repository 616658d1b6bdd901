"""Scorecards: a logistic discriminant as points that are added up."""
