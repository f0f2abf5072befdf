"""The same page through other agent libraries, which live in an environment of their own (`make bench-peers`).

Each runs an agent with one tool, `create_file`, and reads every event that the library offers. A library that is
not installed is left out.
"""

import importlib.util
from typing import Any

from benchmarks.streaming_worker import KEY, Work, serve

PROMPT = "A page."


def create_file(path: str, content: str) -> str:
    """Writes a file."""
    return f"Created {path}."


async def pydantic_ai(protocol: str, base_url: str, size: int) -> int:
    from pydantic_ai import Agent
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, ToolCallPart, ToolCallPartDelta

    agent = Agent(_pydantic_ai_model(protocol, base_url, f"page-{size}"), tools=[create_file])
    total = 0
    async with agent.run_stream_events(PROMPT) as events:
        async for event in events:
            if isinstance(event, PartDeltaEvent) and isinstance(event.delta, ToolCallPartDelta):
                total += len(event.delta.args_delta or "")
            elif isinstance(event, PartStartEvent) and isinstance(event.part, ToolCallPart):
                total += len(event.part.args or "")
    return total


def _pydantic_ai_model(protocol: str, base_url: str, name: str) -> Any:
    if protocol == "anthropic_messages":
        import anthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = anthropic.AsyncAnthropic(api_key=KEY, base_url=base_url, max_retries=0)
        return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    kind = OpenAIResponsesModel if protocol == "responses" else OpenAIChatModel
    return kind(name, provider=OpenAIProvider(openai_client=_openai_client(base_url)))


async def openai_agents(protocol: str, base_url: str, size: int) -> int:
    import agents
    from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
    from agents.models.openai_responses import OpenAIResponsesModel

    agents.set_tracing_disabled(True)
    kind = {"responses": OpenAIResponsesModel, "chat": OpenAIChatCompletionsModel}[protocol]
    model = kind(model=f"page-{size}", openai_client=_openai_client(base_url))
    agent = agents.Agent(name="bench", model=model, tools=[agents.function_tool(create_file)])
    total = 0
    async for event in agents.Runner.run_streamed(agent, PROMPT).stream_events():
        data = event.data if event.type == "raw_response_event" else None
        if data and data.type == "response.function_call_arguments.delta":
            total += len(data.delta)
    return total


async def langchain(protocol: str, base_url: str, size: int) -> int:
    from langchain.agents import create_agent

    agent = create_agent(_langchain_model(protocol, base_url, f"page-{size}"), tools=[create_file])
    total = 0
    question = {"messages": [{"role": "user", "content": PROMPT}]}
    async for message, _ in agent.astream(question, stream_mode="messages"):
        for chunk in getattr(message, "tool_call_chunks", ()):
            total += len(chunk["args"] or "")
    return total


def _langchain_model(protocol: str, base_url: str, name: str) -> Any:
    common = {"model": name, "api_key": KEY, "base_url": base_url, "max_retries": 0, "streaming": True}
    if protocol == "anthropic_messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(**common)
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(**common, use_responses_api=protocol == "responses")


def _openai_client(base_url: str) -> Any:
    import openai

    return openai.AsyncOpenAI(api_key=KEY, base_url=base_url, max_retries=0)


PEERS: dict[str, tuple[str, Work]] = {
    "pydantic-ai": ("pydantic_ai", pydantic_ai),
    "openai-agents": ("agents", openai_agents),
    "LangChain": ("langchain", langchain),
}

if __name__ == "__main__":
    serve({name: work for name, (module, work) in PEERS.items() if importlib.util.find_spec(module)})
