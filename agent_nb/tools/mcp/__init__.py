"""Tools from MCP servers. The `mcp` package is imported only when a server starts."""
