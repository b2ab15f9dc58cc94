"""The AMD backend. Nothing is here yet: the CPU backend shows the shape it will have."""
