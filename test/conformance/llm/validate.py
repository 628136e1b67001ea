"""Validates bodies against the types that the vendors publish in their Python packages.

Reads {"bodies": [...], "extensions": [...]} from standard input. Prints as JSON how many bodies of each kind there were, the problems, and
how often each extension was found.
"""

import json
import sys
from typing import Union

import anthropic.types
import botocore.session
import openai.types.chat
import openai.types.chat.completion_create_params
import openai.types.responses
import openai.types.shared
from botocore.validate import ParamValidator
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict


class ChatError(TypedDict):
    """The body that the clients of `openai` read errors from; the package has a type for its member only."""

    error: openai.types.shared.ErrorObject


MODELS = {
    "completions request": openai.types.chat.completion_create_params.CompletionCreateParams,
    "completions answer": Union[openai.types.chat.ChatCompletion, ChatError],
    "completions event": Union[openai.types.chat.ChatCompletionChunk, ChatError],
    "messages request": anthropic.types.MessageCreateParams,
    "messages answer": Union[anthropic.types.Message, anthropic.types.ErrorResponse],
    "messages event": Union[anthropic.types.RawMessageStreamEvent, anthropic.types.ErrorResponse],
    "responses answer": Union[openai.types.responses.Response, ChatError],
    "responses event": openai.types.responses.ResponseStreamEvent,
}


class WireSchema(GenerateJsonSchema):
    """Schemas of what travels as JSON. Files that a Python caller may give instead of a text have no form on the wire."""

    def handle_invalid_for_json_schema(self, schema, error_info):
        return {"not": {}}


def closed(schema):
    """The same schema, where objects have no other members than those that are named."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: closed(each) for name, each in schema.items()}
    if isinstance(inner.get("properties"), dict) and inner.get("type") == "object":
        inner["additionalProperties"] = False
    return inner


def schema_check(model):
    adapter = TypeAdapter(model, config=ConfigDict(arbitrary_types_allowed=True))
    validator = Draft202012Validator(closed(adapter.json_schema(schema_generator=WireSchema)))

    def check(body):
        # Going through all errors of a large union is slow; most bodies have none.
        if validator.is_valid(body):
            return None
        error = best_match(validator.iter_errors(body))
        return f"{error.json_path}: {error.message[:300]}"

    return check


def converse_check():
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    shape = service.operation_model("Converse").input_shape
    validator = ParamValidator()

    def check(body):
        # The model travels in the path.
        report = validator.validate({"modelId": "model", **body}, shape)
        return report.generate_report() if report.has_errors() else None

    return check


def without(body, path):
    """The body without the members at a path such as `choices[].message.reasoning_content`, and how many there were."""
    name, _, rest = path.partition(".")
    if name.endswith("[]"):
        name = name[:-2]
        elements = body.get(name) if isinstance(body, dict) else None
        if not isinstance(elements, list):
            return body, 0
        pairs = [without(each, rest) for each in elements]
        return {**body, name: [each for each, _ in pairs]}, sum(count for _, count in pairs)
    if not isinstance(body, dict) or name not in body:
        return body, 0
    if rest:
        inner, count = without(body[name], rest)
        return {**body, name: inner}, count
    return {key: member for key, member in body.items() if key != name}, 1


def main():
    given = json.load(sys.stdin)
    checks = {name: schema_check(model) for name, model in MODELS.items()}
    checks["converse request"] = converse_check()
    problems = []
    counts = {}
    used = [0] * len(given["extensions"])
    for written in given["bodies"]:
        kind = f"{written['dialect']} {written['kind']}"
        body = written["body"]
        for index, extension in enumerate(given["extensions"]):
            if extension["of"] == kind:
                body, count = without(body, extension["path"])
                used[index] += count
        check = checks[kind]
        if kind not in counts:
            counts[kind] = 0
            # Otherwise the check could not find anything.
            if check({**body, "no_such_member": 1}) is None:
                problems.append({"name": written["name"], "kind": kind, "problem": "an unknown member is not noticed"})
        counts[kind] += 1
        problem = check(body)
        if problem is not None:
            problems.append({"name": written["name"], "kind": kind, "problem": problem})
    json.dump({"counts": counts, "problems": problems, "used": used}, sys.stdout)


main()
