"""Continuous states: linear dynamical systems and Kalman's filter."""
