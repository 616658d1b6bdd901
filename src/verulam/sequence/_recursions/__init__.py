"""Compiled recursions over states, and the memory and threads that they use."""
