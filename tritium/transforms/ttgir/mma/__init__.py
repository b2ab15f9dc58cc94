"""Matrix multiplication: MMA instructions, and the layouts of operands and accumulators."""
