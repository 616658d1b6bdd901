"""Pictures of reinforcement learning: maps of values, traces, curves, lines over beliefs."""
