"""The pairs in Python: `pair.py server` prints its port; `pair.py client URL BINDING GRPC` prints the outcomes as JSON.

Under `/BINDING-VERSION` the server has a card with that interface alone. GRPC is the address of the gateway for calls of gRPC, or empty.
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
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2, a2a_pb2_grpc
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

BINDINGS = {"jsonrpc": "JSONRPC", "rest": "HTTP+JSON", "grpc": "GRPC"}
VERSIONS = ["1.0", "0.3"]
WORKING = a2a_pb2.TaskState.TASK_STATE_WORKING


# A machine may stand still for a minute: a client that joins a task must find it working then.
WAIT_S = 120


class Agent(AgentExecutor):
    """Says what it heard; `wait` works until it is cancelled, or a client has joined the task."""

    def __init__(self):
        self.joined = {}

    async def execute(self, context, event_queue):
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            status = a2a_pb2.TaskStatus(state=a2a_pb2.TaskState.TASK_STATE_SUBMITTED)
            await event_queue.enqueue_event(
                a2a_pb2.Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            )
        await updater.start_work()
        text = context.get_user_input()
        if text == "wait":
            joined = self.joined.setdefault(context.task_id, asyncio.Event())
            await asyncio.wait([asyncio.ensure_future(joined.wait())], timeout=WAIT_S)
        await updater.add_artifact([a2a_pb2.Part(text=f"heard: {text}")], name="answer")
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


class CompletingHandler(DefaultRequestHandler):
    """Completes a task when a client has joined it."""

    async def on_subscribe_to_task(self, params, context):
        joined = self.agent_executor.joined.setdefault(params.id, asyncio.Event())
        # The first step of the loop below joins the task.
        asyncio.get_running_loop().call_later(0.5, joined.set)
        async for event in super().on_subscribe_to_task(params, context):
            yield event


def card_of(interfaces, name="python"):
    return a2a_pb2.AgentCard(
        name=name,
        description="Says what it heard",
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=a2a_pb2.AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[a2a_pb2.AgentSkill(id="hear", name="Hear", description="Hears", tags=["example"])],
    )


async def serve():
    http = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{http.getsockname()[1]}"
    server = grpc.aio.server()
    grpc_address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    at = {"jsonrpc": f"{url}/rpc", "rest": f"{url}/rest", "grpc": grpc_address}
    each = {
        (binding, version): a2a_pb2.AgentInterface(url=at[binding], protocol_binding=name, protocol_version=version)
        for binding, name in BINDINGS.items()
        for version in VERSIONS
    }
    card = card_of(each.values())
    handler = CompletingHandler(
        Agent(),
        InMemoryTaskStore(),
        card,
        push_config_store=InMemoryPushNotificationConfigStore(),
        extended_agent_card=card_of(each.values(), "extended"),
    )
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), server)
    await server.start()
    routes = [
        *(
            route
            for (binding, version), interface in each.items()
            for route in create_agent_card_routes(
                card_of([interface]), card_url=f"/{binding}-{version}/.well-known/agent-card.json"
            )
        ),
        Route("/grpc", lambda _: PlainTextResponse(grpc_address)),
        *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True),
        # Its routes for tenants match every path.
        *create_rest_routes(handler, enable_v0_3_compat=True, path_prefix="/rest"),
    ]
    print(http.getsockname()[1], flush=True)
    await uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error")).serve([http])


def expect(seen, expected):
    if seen != expected:
        raise AssertionError(f"{seen!r} instead of {expected!r}")


def say(text):
    message = a2a_pb2.Message(role=a2a_pb2.Role.ROLE_USER, message_id=str(uuid.uuid4()), parts=[a2a_pb2.Part(text=text)])
    return a2a_pb2.SendMessageRequest(message=message)


def task_of(event):
    kind = event.WhichOneof("payload")
    return event.task.id if kind == "task" else getattr(event, kind).task_id


def last_state(events):
    states = [
        e.task.status.state if e.WhichOneof("payload") == "task" else e.status_update.status.state
        for e in events
        if e.WhichOneof("payload") in ("task", "status_update")
    ]
    return a2a_pb2.TaskState.Name(states[-1])


async def run_client(url, binding, grpc_address):
    base = httpx.URL(url)
    web = httpx.AsyncClient(timeout=20)
    card = await A2ACardResolver(web, url).get_agent_card()

    async def check_card():
        interface = card.supported_interfaces[0]
        expect(len(card.supported_interfaces), 1)
        if binding != "grpc":
            expect(httpx.URL(interface.url).netloc, base.netloc)

    if grpc_address and binding == "grpc":
        card.supported_interfaces[0].url = grpc_address

    def client(streaming):
        config = ClientConfig(
            streaming=streaming,
            supported_protocol_bindings=[BINDINGS[binding]],
            grpc_channel_factory=grpc.aio.insecure_channel,
            httpx_client=web,
        )
        return ClientFactory(config).create(card)

    plain, streaming = client(False), client(True)

    async def started():
        events = streaming.send_message(say("wait"))
        return task_of(await anext(events)), events

    async def send():
        events = [event async for event in plain.send_message(say("hello"))]
        expect(last_state(events), "TASK_STATE_COMPLETED")
        expect(events[-1].task.artifacts[0].parts[0].text, "heard: hello")

    async def stream():
        events = [event async for event in streaming.send_message(say("hello"))]
        expect(last_state(events), "TASK_STATE_COMPLETED")
        expect(len(events) >= 3, True)

    async def get():
        events = [event async for event in plain.send_message(say("hello"))]
        task = await plain.get_task(a2a_pb2.GetTaskRequest(id=events[-1].task.id))
        expect(a2a_pb2.TaskState.Name(task.status.state), "TASK_STATE_COMPLETED")

    async def cancel():
        task_id, events = await started()
        task = await plain.cancel_task(a2a_pb2.CancelTaskRequest(id=task_id))
        expect(a2a_pb2.TaskState.Name(task.status.state), "TASK_STATE_CANCELED")
        await events.aclose()

    async def resubscribe():
        task_id, events = await started()
        seen = [event async for event in streaming.subscribe(a2a_pb2.SubscribeToTaskRequest(id=task_id))]
        expect(last_state(seen), "TASK_STATE_COMPLETED")
        await events.aclose()

    async def push():
        task_id, events = await started()
        await events.aclose()
        config = a2a_pb2.TaskPushNotificationConfig(task_id=task_id, id="p1", url="http://127.0.0.1:9/push")
        made = await plain.create_task_push_notification_config(config)
        expect(made.url, config.url)
        asked = a2a_pb2.GetTaskPushNotificationConfigRequest(task_id=task_id, id="p1")
        expect((await plain.get_task_push_notification_config(asked)).url, config.url)

    async def unpush():
        task_id, events = await started()
        await events.aclose()
        config = a2a_pb2.TaskPushNotificationConfig(task_id=task_id, id="p1", url="http://127.0.0.1:9/push")
        await plain.create_task_push_notification_config(config)
        await plain.delete_task_push_notification_config(
            a2a_pb2.DeleteTaskPushNotificationConfigRequest(task_id=task_id, id="p1")
        )

    async def extended():
        seen = await client(False).get_extended_agent_card(a2a_pb2.GetExtendedAgentCardRequest())
        expect(len(seen.supported_interfaces) > 1, True)
        for interface in seen.supported_interfaces:
            if grpc_address and interface.protocol_binding == "GRPC":
                expect(interface.url, grpc_address)
            if binding != "grpc" and interface.protocol_binding != "GRPC":
                expect(httpx.URL(interface.url).netloc, base.netloc)

    async def unknown():
        try:
            await plain.get_task(a2a_pb2.GetTaskRequest(id="no-such-task"))
        except Exception as error:
            expect(type(error).__name__, "TaskNotFoundError")
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
