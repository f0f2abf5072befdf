"""A web back end for AG-UI front ends: one agent behind one address.

    pip install agent-nb starlette uvicorn
    python docs/examples/ag_ui_server.py

Then point a front end at http://127.0.0.1:8000/agent. Without a key, the offline demo model answers.
"""

import os
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from agent_nb import Agent, ConfigError, Limits
from agent_nb.web import AgUi, AgUiRequest

agent = Agent(os.environ.get("AGENT_NB_MODEL", "demo:"), limits=Limits(steps=12, seconds=300), approve="deny")


async def answer(request: AgUiRequest) -> AsyncIterator[str]:
    """The run as server-sent events. When the front end goes away, the run is stopped."""
    async for _, data in agent.sse(request.prompt, vocabulary=AgUi(request), **request.material):
        yield f"data: {data}\n\n"


async def run(http: Request) -> Response:
    try:
        request = AgUiRequest.read(await http.json())
    except (ConfigError, ValueError) as error:
        return PlainTextResponse(str(error), status_code=400)
    return StreamingResponse(answer(request), media_type="text/event-stream")


app = Starlette(routes=[Route("/agent", run, methods=["POST"])])

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
