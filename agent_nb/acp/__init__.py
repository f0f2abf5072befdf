"""Outside agents: programs such as Gemini CLI that bring their own model and tools, by the Agent Client Protocol."""
