from connection import Answer, Connection, Fault, Question
from google import genai
from google.genai import errors, types

REASONS = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "refusal"}


class Gemini(Connection):
    def __init__(self, target):
        super().__init__(target)
        options = types.HttpOptions(base_url=target.url, headers=target.headers)
        self.client = genai.Client(vertexai=target.upstream["name"] == "six", api_key="k", http_options=options)

    def fault_of(self, error):
        if isinstance(error, errors.APIError):
            response = error.response
            retry_after = response.headers.get("retry-after") if hasattr(response, "headers") else None
            return Fault(error.code, error.message or "", retry_after, type(error).__name__)
        return Fault(None, str(error), None, type(error).__name__)

    def config(self, question: Question, **more):
        config = {"system_instruction": "Be brief.", **more}
        if question.offers_tools and "tools" not in config:
            tool = self.target.texts["tool"]
            parameters = {"parameters_json_schema": tool["parameters"]}
            declaration = {"name": tool["name"], "description": tool["description"], **parameters}
            config["tools"] = [{"function_declarations": [declaration]}]
        if question.thinks:
            config["thinking_config"] = {"include_thoughts": True}
        if question.limit:
            config["max_output_tokens"] = question.limit
        return types.GenerateContentConfig(**config)

    def contents(self, question: Question) -> list:
        contents = list(question.history or [])
        parts = [
            types.Part(function_response=types.FunctionResponse(id=id, name=name, response={"output": text}))
            for id, name, text in question.results
        ]
        if parts:
            contents.append(types.Content(role="user", parts=parts))
        if question.prompt is not None:
            parts = [types.Part(text=question.prompt)]
            if question.image is not None:
                parts.append(types.Part(inline_data={"mime_type": "image/png", "data": question.image}))
            contents.append(types.Content(role="user", parts=parts))
        return contents

    def answer(self, chunks, contents) -> Answer:
        parts = [part for chunk in chunks for part in (chunk.candidates[0].content.parts or [])]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        calls = [(part.function_call.id, part.function_call.name, part.function_call.args) for part in parts if part.function_call]
        last = chunks[-1]
        usage = last.usage_metadata
        output = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        reason = REASONS.get(last.candidates[0].finish_reason.value)
        reason = "calls" if reason == "stop" and calls else reason
        counts = (usage.prompt_token_count, usage.cached_content_token_count, output)
        return Answer(text, calls, reason, counts, [*contents, types.Content(role="model", parts=parts)])

    def ask(self, question):
        contents = self.contents(question)
        config = self.config(question)
        return self.answer([self.client.models.generate_content(model=self.model, contents=contents, config=config)], contents)

    def stream(self, question, on_text):
        contents = self.contents(question)
        config = self.config(question)
        chunks = []
        stream = self.client.models.generate_content_stream(model=self.model, contents=contents, config=config)
        for chunk in stream:
            chunks.append(chunk)
            parts = chunk.candidates[0].content.parts or []
            if any(part.text for part in parts):
                try:
                    on_text()
                except BaseException:
                    stream.close()
                    raise
        return self.answer(chunks, contents)

    def parse(self, question, schema):
        import json

        config = self.config(question, response_mime_type="application/json", response_json_schema=schema)
        contents = self.contents(question)
        response = self.client.models.generate_content(model=self.model, contents=contents, config=config)
        return json.loads(response.text)

    def run_tools(self, question, run):
        def weather(city: str) -> str:
            """The weather of a city."""
            return run(city)

        config = self.config(question, tools=[weather])
        contents = self.contents(question)
        return self.client.models.generate_content(model=self.model, contents=contents, config=config).text
