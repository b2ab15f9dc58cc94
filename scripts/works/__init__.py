"""What works where: every name of the language, and for each target a test that uses it and passes."""
