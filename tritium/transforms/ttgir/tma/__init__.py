"""TMA: layouts of tensor descriptors, loads and stores by them."""
