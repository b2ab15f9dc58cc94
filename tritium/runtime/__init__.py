"""What a user's call meets: the JIT function, specialization, argument packing, the launcher.

The only room that knows NumPy arrays and torch tensors. It imports neither unless a caller has already done so or
passes one in.
"""
