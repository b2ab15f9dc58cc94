"""TMA: shared memory layouts of tensor descriptors, TMA loads and TMA stores."""
