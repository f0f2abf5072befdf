"""The tool with which a model asks the user."""

from agent_nb._base.wire import Json
from agent_nb.plugins import Tool, ToolContext, ToolOutput
from agent_nb.plugins.engine import described, tool_spec

LONGEST_LINE = 160
"""Maximum characters of an answer that is shown on the line of the call."""


async def _answer(args: Json, context: ToolContext) -> ToolOutput:
    answer = context.answer
    is_long = len(answer) > LONGEST_LINE or "\n" in answer
    return ToolOutput(
        text=answer,
        outputs=({"text/plain": answer},) if is_long else (),
        schema=(answer,),  # the user typed it for the model
    )


ASK = Tool(
    spec=tool_spec(
        "ask_user",
        "Ask the user one question and wait for the answer. Use it only if the answer changes what you do and you"
        " cannot find it out yourself. The user can pick a choice or type something else.",
        {
            "question": described("string", "One short question.", minLength=1, maxLength=2000),
            "choices": described(
                "array",
                "Up to 12 short answers to choose from; empty if there are none.",
                maxItems=12,
                items={"type": "string", "minLength": 1, "maxLength": 200},
            ),
        },
        required=("question",),
    ),
    run=_answer,
    title=lambda args: f"ask: {' '.join(args['question'].split())}" if args else "ask you",
    is_question=True,
    packaged=True,
)
TOOLS = (ASK,)
