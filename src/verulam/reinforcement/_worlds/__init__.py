"""Worlds to plan and to learn in: grids, the tiger, games, schedules, subtasks."""
