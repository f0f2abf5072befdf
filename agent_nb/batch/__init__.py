"""`agent.map`: many prompts on many models, a few at a time, resumable, as a table."""
