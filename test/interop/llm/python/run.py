"""Drives clients in Python: reads what to ask whom as JSON, prints the cells of the table as JSON."""

import json
import sys
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor

import anthropic_client
import google_client
import langchain_client
import openai_client
from connection import Target
from scenarios import Scenarios

GIVEN = json.load(sys.stdin)
SCENARIOS = Scenarios(GIVEN["texts"])


def thoughtless(upstream):
    return upstream["withoutThoughts"]


def no(scenario_names, why, apis=("completions", "messages", "converse")):
    return lambda scenario, upstream: why if scenario in scenario_names and upstream["api"] in apis else None


def never(*_):
    return None


def unguarded(scenario, _):
    return "no guard reads what passes through" if scenario.startswith("guard-") else None


def gemini_only(upstream):
    reached = upstream["name"] in ("five", "six")
    return None if reached else "it speaks generateContent, which passes through to five and six only"


NO_LOOP = no(("runner",), "the client has no loop of tools")
NO_REFUSAL = no(("refusal",), "the client drops refusals in streams of chat completions", ("completions",))
LANGCHAIN_LOST = "the client does not read and send thoughts in chat completions"
CLIENTS = {
    "python openai chat": (openai_client.Chat, openai_client.ERRORS, NO_LOOP, thoughtless, never),
    "python openai responses": (openai_client.Responses, openai_client.ERRORS, NO_LOOP, never, never),
    "python openai others": (openai_client.Others, None, never, never, never),
    "python anthropic messages": (anthropic_client.Messages, anthropic_client.ERRORS, never, thoughtless, never),
    "python anthropic others": (anthropic_client.Others, None, never, never, never),
    "python langchain chat": (
        langchain_client.Chat,
        langchain_client.ERRORS,
        lambda *of: NO_LOOP(*of) or NO_REFUSAL(*of),
        lambda upstream: thoughtless(upstream) or LANGCHAIN_LOST,
        never,
    ),
    "python langchain responses": (langchain_client.Responses, langchain_client.ERRORS, NO_LOOP, never, never),
    "python google genai": (google_client.Gemini, {}, unguarded, never, gemini_only),
}


def has_left(run):
    with urllib.request.urlopen(f"{GIVEN['vendors']}/left/{run}") as response:
        return response.read() == b"true"


def cell(make, errors, cannot, loses, upstream, scenario, check):
    reason = cannot(scenario, upstream)
    if reason is not None:
        return {"cannot": reason}
    run = str(uuid.uuid4())
    headers = {"x-scenario": scenario, "x-run": run}
    backend = f"{upstream['name']}-guarded" if scenario.startswith("guard-") else upstream["name"]
    connection = make(Target(f"{GIVEN['gateway']}/{backend}", upstream, headers, GIVEN["texts"]))
    lost = (loses(upstream) or upstream["unsigned"]) if scenario.startswith("thinking") else None
    circumstances = {"errors": errors or {}, "has_left": lambda: has_left(run), "keeps_thoughts": lost is None}
    try:
        if check:
            connection.checks()[scenario]()
        else:
            SCENARIOS.by_name[scenario](connection, circumstances)
        return "pass" if lost is None else {"cannot": lost}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def jobs():
    for client, (make, errors, cannot, loses, unreachable) in CLIENTS.items():
        for upstream in GIVEN["upstreams"]:
            chats = [] if errors is None else list(SCENARIOS.by_name)
            reason = unreachable(upstream)
            if reason is not None:
                cannot_here = lambda *_, reason=reason: reason
            else:
                cannot_here = cannot
            probe = Target("http://127.0.0.1", upstream, {}, GIVEN["texts"])
            checks = list(make(probe).checks())
            for scenario in [*chats, *checks]:
                yield client, upstream, scenario, (make, errors, cannot_here, loses, upstream, scenario, scenario in checks)


with ThreadPoolExecutor(8) as pool:
    started = [(client, upstream, scenario, pool.submit(cell, *job)) for client, upstream, scenario, job in jobs()]
    cells = [[client, upstream["name"], scenario, job.result()] for client, upstream, scenario, job in started]
json.dump(cells, sys.stdout)
