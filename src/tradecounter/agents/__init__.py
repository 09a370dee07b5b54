"""Agents: programs that act for a customer by way of the Model Context Protocol, at `/mcp`."""
