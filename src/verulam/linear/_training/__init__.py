"""What all trainers of a line share: the two-class problem, corrections, geometry."""
