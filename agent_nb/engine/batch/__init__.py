"""`agent.map`: many prompts on many models, a few at a time, stored in a folder and shown as a table."""
