"""A web back end for AG-UI front ends: one agent behind one address.

    pip install agent-nb starlette uvicorn
    python docs/examples/ag_ui_server.py

Then point a front end at http://127.0.0.1:8000/agent. Without a key, the offline demo model answers.
"""

import os
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from agent_nb import Agent, AgentError, Limits
from agent_nb.web import AgUi, AgUiRequest

ORIGINS = os.environ.get("ORIGINS", "").split()
"""The addresses of front ends that run in a browser, such as http://localhost:5173. No other page can start a run."""
agent = Agent(os.environ.get("AGENT_NB_MODEL", "demo:"), limits=Limits(steps=12, seconds=300), approve="deny")


async def answer(request: AgUiRequest) -> AsyncIterator[str]:
    """The run as server-sent events. When the front end goes away, the run is stopped."""
    async for _, data in agent.sse(request.prompt, vocabulary=AgUi(request), **request.material):
        yield f"data: {data}\n\n"


async def run(http: Request) -> Response:
    """Checks the whole request before the answer begins: later, an error could only break it off."""
    try:
        request = await AgUiRequest.receive(http.headers, http.stream(), ORIGINS)
        agent.prepare(request.prompt, **request.material)
    except AgentError as error:
        return PlainTextResponse(str(error), status_code=getattr(error, "status", 400))
    return StreamingResponse(answer(request), media_type="text/event-stream")


cors = Middleware(
    CORSMiddleware, allow_origins=ORIGINS, allow_methods=["POST"], allow_headers=["content-type"]
)
app = Starlette(routes=[Route("/agent", run, methods=["POST"])], middleware=[cors])

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
