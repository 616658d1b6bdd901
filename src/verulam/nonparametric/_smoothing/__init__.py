"""Smoothers in one and several inputs."""
