"""Spans for every run, in OpenTelemetry's conventions for generative AI.

    import agent_nb.tracing
    agent_nb.tracing.enable()

Spans go to the tracer provider that your application has set up; without one, they go nowhere.
"""

from agent_nb.web.tracing import disable, enable

__all__ = ["disable", "enable"]
