"""Software pipelining of loops: latencies, schedule, and expansion into prologue and steady state."""
