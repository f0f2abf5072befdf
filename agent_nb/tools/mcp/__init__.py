"""MCP servers: their tools as ours. The `mcp` package is imported when a server is started, not before."""
