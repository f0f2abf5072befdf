"""An AG-UI front end: checks every event against the protocol's models and rules, and builds what a person sees."""

import json
from collections.abc import Iterable
from typing import Any

from ag_ui.core import Event as ProtocolEvent
from pydantic import TypeAdapter

from agent_nb.events import Event
from agent_nb.web import AgUi

MODELS = TypeAdapter(ProtocolEvent)


def translated(events: Iterable[Event], translate: AgUi | None = None) -> list[dict]:
    translate = translate or AgUi()
    return [json.loads(data) for event in events for _, data in translate(event)]


class FrontEnd:
    """The conversation and the state that the events lead to."""

    def __init__(self, messages: Iterable[dict] = ()) -> None:
        self.messages = [dict(message) for message in messages]
        self.state: Any = None
        self.types: list[str] = []
        self.custom: list[dict] = []
        self.end: dict = {}
        self._open: set[tuple[str, str]] = set()
        """Kind and id of everything that is open."""

    def take(self, events: Iterable[dict]) -> "FrontEnd":
        for event in events:
            self._check(event)
            self.types.append(event["type"])
            getattr(self, "_" + event["type"].lower())(event)
        return self

    def texts(self, role: str) -> list[str]:
        return [message["content"] for message in self.messages if message["role"] == role]

    def _check(self, event: dict) -> None:
        model = MODELS.validate_python(event)
        assert not model.model_extra, model.model_extra
        assert not self.end, f"{event['type']} came after the end"
        assert (event["type"] == "RUN_STARTED") == (not self.types)

    def _opens(self, kind: str, key: str) -> None:
        assert (kind, key) not in self._open
        self._open.add((kind, key))

    def _closes(self, kind: str, key: str) -> None:
        self._open.remove((kind, key))

    def _message(self, key: str, **fresh: Any) -> dict:
        found = [message for message in self.messages if message["id"] == key]
        if not found:
            self.messages.append({"id": key, **fresh})
        return found[0] if found else self.messages[-1]

    def _call(self, key: str) -> dict:
        calls = [call for message in self.messages for call in message.get("toolCalls", ())]
        [call] = [call for call in calls if call["id"] == key]
        return call

    def _run_started(self, event: dict) -> None:
        assert event["protocolVersion"] == "1.0"

    def _run_finished(self, event: dict) -> None:
        assert not self._open
        self.end = event

    _run_error = _run_finished

    def _step_started(self, event: dict) -> None:
        self._opens("step", event["stepName"])

    def _step_finished(self, event: dict) -> None:
        self._closes("step", event["stepName"])

    def _text_message_start(self, event: dict) -> None:
        self._opens("text", event["messageId"])
        self._message(event["messageId"], role="assistant", content="")

    def _text_message_content(self, event: dict) -> None:
        assert ("text", event["messageId"]) in self._open
        self._message(event["messageId"])["content"] += event["delta"]

    def _text_message_end(self, event: dict) -> None:
        self._closes("text", event["messageId"])

    def _reasoning_start(self, event: dict) -> None:
        self._opens("reasoning", event["messageId"])

    def _reasoning_message_start(self, event: dict) -> None:
        self._opens("thought", event["messageId"])
        self._message(event["messageId"], role="reasoning", content="")

    def _reasoning_message_content(self, event: dict) -> None:
        assert ("thought", event["messageId"]) in self._open
        self._message(event["messageId"])["content"] += event["delta"]

    def _reasoning_message_end(self, event: dict) -> None:
        self._closes("thought", event["messageId"])

    def _reasoning_end(self, event: dict) -> None:
        self._closes("reasoning", event["messageId"])

    def _tool_call_start(self, event: dict) -> None:
        self._opens("call", event["toolCallId"])
        message = self._message(event["parentMessageId"], role="assistant", content="")
        function = {"name": event["toolCallName"], "arguments": ""}
        call = {"id": event["toolCallId"], "type": "function", "function": function}
        message.setdefault("toolCalls", []).append(call)

    def _tool_call_args(self, event: dict) -> None:
        assert ("call", event["toolCallId"]) in self._open
        self._call(event["toolCallId"])["function"]["arguments"] += event["delta"]

    def _tool_call_end(self, event: dict) -> None:
        self._closes("call", event["toolCallId"])

    def _tool_call_result(self, event: dict) -> None:
        assert ("call", event["toolCallId"]) not in self._open
        self._call(event["toolCallId"])
        fields = {"toolCallId": event["toolCallId"], "content": event["content"]}
        assert not any(message["id"] == event["messageId"] for message in self.messages)
        self._message(event["messageId"], role="tool", **fields)

    def _messages_snapshot(self, event: dict) -> None:
        given = {message["id"]: json.loads(json.dumps(message)) for message in event["messages"]}
        decides_on_reasoning = any(message["role"] == "reasoning" for message in given.values())
        self.messages = [
            given.get(message["id"], message)
            for message in self.messages
            if message["id"] in given or (message["role"] == "reasoning" and not decides_on_reasoning)
        ]
        known = {message["id"] for message in self.messages}
        self.messages += [message for key, message in given.items() if key not in known]

    def _state_snapshot(self, event: dict) -> None:
        self.state = event["snapshot"]

    def _state_delta(self, event: dict) -> None:
        for operation in event["delta"]:
            root, key, path = operation["path"].split("/")
            path = path.replace("~1", "/").replace("~0", "~")
            files = self.state[key]
            assert (root, path in files) == ("", operation["op"] != "add")
            if operation["op"] == "remove":
                del files[path]
            else:
                files[path] = operation["value"]

    def _custom(self, event: dict) -> None:
        self.custom.append(event)
