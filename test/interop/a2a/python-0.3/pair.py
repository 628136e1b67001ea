"""The pairs in Python, of the SDK for protocol 0.3: `pair.py server` prints its port; `pair.py client URL BINDING GRPC` prints the outcomes as JSON.

Under `/BINDING-0.3` the server has a card with that interface alone. GRPC is the address of the gateway for calls of gRPC, or empty.
"""

import asyncio
import json
import socket
import sys
import uuid

import grpc
import httpx
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.grpc import a2a_pb2_grpc
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TaskStatus,
    TextPart,
)
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Mount, Route

BINDINGS = {"jsonrpc": "JSONRPC", "rest": "HTTP+JSON", "grpc": "GRPC"}


# A machine may stand still for a minute: a client that joins a task must find it working then.
WAIT_S = 120


class Agent(AgentExecutor):
    """Says what it heard; `wait` works until it is cancelled, or a client has joined the task."""

    def __init__(self):
        self.joined = {}

    async def execute(self, context, event_queue):
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            status = TaskStatus(state=TaskState.submitted)
            await event_queue.enqueue_event(
                Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            )
        await updater.start_work()
        text = context.get_user_input()
        if text == "wait":
            joined = self.joined.setdefault(context.task_id, asyncio.Event())
            await asyncio.wait([asyncio.ensure_future(joined.wait())], timeout=WAIT_S)
        await updater.add_artifact([Part(root=TextPart(text=f"heard: {text}"))], name="answer")
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class CompletingHandler(DefaultRequestHandler):
    """Completes a task when a client has joined it."""

    async def on_resubscribe_to_task(self, params, context=None):
        joined = self.agent_executor.joined.setdefault(params.id, asyncio.Event())
        # The first step of the loop below joins the task.
        asyncio.get_running_loop().call_later(0.5, joined.set)
        async for event in super().on_resubscribe_to_task(params, context):
            yield event


def card_of(at, binding, name="python-0.3", others=()):
    return AgentCard(
        name=name,
        description="Says what it heard",
        version="1.0.0",
        protocol_version="0.3.0",
        url=at[binding],
        preferred_transport=BINDINGS[binding],
        additional_interfaces=[AgentInterface(url=at[other], transport=BINDINGS[other]) for other in others],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        supports_authenticated_extended_card=True,
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="hear", name="Hear", description="Hears", tags=["example"])],
    )


async def serve():
    http = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{http.getsockname()[1]}"
    server = grpc.aio.server()
    grpc_address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    at = {"jsonrpc": f"{url}/rpc", "rest": f"{url}/rest", "grpc": grpc_address}
    handler = CompletingHandler(Agent(), InMemoryTaskStore(), push_config_store=InMemoryPushNotificationConfigStore())
    extended = card_of(at, "jsonrpc", "extended", BINDINGS)
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(card_of(at, "grpc", "extended", BINDINGS), handler), server)
    await server.start()

    def card_route(binding):
        card = card_of(at, binding).model_dump(mode="json", exclude_none=True, by_alias=True)
        return Route(f"/{binding}-0.3/.well-known/agent-card.json", lambda _: JSONResponse(card))

    rpc = A2AStarletteApplication(card_of(at, "jsonrpc"), handler, extended_agent_card=extended)
    rest = A2ARESTFastAPIApplication(card_of(at, "rest"), handler, extended_agent_card=extended)
    routes = [
        *(card_route(binding) for binding in BINDINGS),
        Route("/grpc", lambda _: PlainTextResponse(grpc_address)),
        *rpc.routes(rpc_url="/rpc"),
        Mount("/rest", rest.build()),
    ]
    print(http.getsockname()[1], flush=True)
    await uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error")).serve([http])


def expect(seen, expected):
    if seen != expected:
        raise AssertionError(f"{seen!r} instead of {expected!r}")


def say(text):
    return Message(role=Role.user, message_id=str(uuid.uuid4()), parts=[Part(root=TextPart(text=text))])


def last_task(events):
    return events[-1][0]


async def run_client(url, binding, grpc_address):
    base = httpx.URL(url)
    web = httpx.AsyncClient(timeout=20)
    card = await A2ACardResolver(web, url).get_agent_card()

    def has_gateway(address, transport):
        if transport == "GRPC":
            expect(address, grpc_address or address)
        elif binding != "grpc":
            expect(httpx.URL(address).netloc, base.netloc)

    async def check_card():
        if binding != "grpc":
            expect(httpx.URL(card.url).netloc, base.netloc)

    if grpc_address and binding == "grpc":
        card.url = grpc_address

    def client(streaming):
        config = ClientConfig(
            streaming=streaming,
            supported_transports=[BINDINGS[binding]],
            grpc_channel_factory=grpc.aio.insecure_channel,
            httpx_client=web,
        )
        return ClientFactory(config).create(card)

    plain, streaming = client(False), client(True)

    async def started():
        events = streaming.send_message(say("wait"))
        task, _ = await anext(events)
        return task.id, events

    async def send():
        task = last_task([event async for event in plain.send_message(say("hello"))])
        expect(task.status.state, TaskState.completed)
        expect(task.artifacts[0].parts[0].root.text, "heard: hello")

    async def stream():
        events = [event async for event in streaming.send_message(say("hello"))]
        expect(last_task(events).status.state, TaskState.completed)
        expect(len(events) >= 3, True)

    async def get():
        sent = last_task([event async for event in plain.send_message(say("hello"))])
        task = await plain.get_task(TaskQueryParams(id=sent.id))
        expect(task.status.state, TaskState.completed)

    async def cancel():
        task_id, events = await started()
        task = await plain.cancel_task(TaskIdParams(id=task_id))
        expect(task.status.state, TaskState.canceled)
        await events.aclose()

    async def resubscribe():
        task_id, events = await started()
        seen = [event async for event in streaming.resubscribe(TaskIdParams(id=task_id))]
        expect(last_task(seen).status.state, TaskState.completed)
        await events.aclose()

    async def push():
        task_id, events = await started()
        await events.aclose()
        config = PushNotificationConfig(id="p1", url="http://127.0.0.1:9/push")
        made = await plain.set_task_callback(TaskPushNotificationConfig(task_id=task_id, push_notification_config=config))
        expect(made.push_notification_config.url, config.url)
        asked = GetTaskPushNotificationConfigParams(id=task_id, push_notification_config_id="p1")
        expect((await plain.get_task_callback(asked)).push_notification_config.url, config.url)

    async def unpush():
        raise AssertionError("this SDK cannot delete a configuration")

    async def extended():
        seen = await client(False).get_card()
        expect(seen.name, "extended")
        has_gateway(seen.url, seen.preferred_transport)
        for interface in seen.additional_interfaces:
            has_gateway(interface.url, interface.transport)

    async def unknown():
        try:
            await plain.get_task(TaskQueryParams(id="no-such-task"))
        except Exception as error:
            expect("TaskNotFound" in repr(error) or "not found" in str(error).lower(), True)
            return
        raise AssertionError("a task that does not exist")

    checks = [check_card, extended, send, stream, get, cancel, resubscribe, push, unpush, unknown]
    outcomes = {}
    for check in checks:
        try:
            await asyncio.wait_for(check(), 20)
            outcomes[check.__name__.removeprefix("check_")] = "ok"
        except Exception as error:
            outcomes[check.__name__.removeprefix("check_")] = f"{type(error).__name__} {error}".split("\n")[0][:300]
    return outcomes


if __name__ == "__main__":
    if sys.argv[1] == "server":
        asyncio.run(serve())
    else:
        print(json.dumps(asyncio.run(run_client(*sys.argv[2:5]))), flush=True)
        # Streams that were left open keep the loop busy.
        import os

        os._exit(0)
