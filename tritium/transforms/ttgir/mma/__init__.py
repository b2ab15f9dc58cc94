"""Matrix multiplication: MMA instructions, the layouts of their operands and accumulators."""
