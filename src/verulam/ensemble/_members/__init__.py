"""Members: tables as each can use them, clones with seeds, and the outputs of all."""
