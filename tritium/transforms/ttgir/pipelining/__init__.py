"""What pipelines loops: the schedule as data, loads that go on ahead, and the loop that overlaps its iterations."""
