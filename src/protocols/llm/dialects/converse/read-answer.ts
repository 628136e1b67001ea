import { Pace, type Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import { WORK_PER_BLOCK } from '../../chat/dialect.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { decodeText } from '../../json/native.ts'
import { readCitation, readStop, readUsage } from './read-blocks.ts'

/** Reads an answer of the Converse API. */
export function* readAnswer(body: JsonValue, sink: AnswerSink): Steps<void> {
  const answer = new ObjectReader(body)
  const output = answer.require('output', answer.object('output'))
  const message = output.require('message', output.object('message'))
  const content = message.require('content', message.takeKind('content', 'array'))
  sink.start('', '')
  const pace = new Pace()
  const blocks = content.children()
  for (let block = blocks.next(); block !== undefined; block = blocks.next()) {
    readBlock(expectKind(block, 'object'), blocks.index, sink)
    sink.close(blocks.index)
    if (pace.after(WORK_PER_BLOCK)) yield
  }
  const rest = {
    usage: parse(answer.take('usage')),
    serviceTier: parse(answer.take('serviceTier')),
    stopReason: answer.text('stopReason'),
    additionalModelResponseFields: parse(answer.take('additionalModelResponseFields')),
  }
  readUsage(rest, sink)
  readStop(rest, sink)
  sink.end()
}

/** Blocks that have no counterpart, such as tools that the provider runs itself, are no part of the answer. */
function readBlock(block: JsonValue, index: number, sink: AnswerSink): void {
  readText(block.get('text'), index, sink)
  const call = block.get('toolUse')
  if (call !== undefined) readCall(new ObjectReader(call), index, sink)
  const reasoning = block.get('reasoningContent')
  if (reasoning !== undefined) readReasoning(reasoning, index, sink)
  const cited = block.get('citationsContent')
  if (cited === undefined) return
  for (const part of cited.get('content')?.elements ?? []) readText(part.get('text'), index, sink)
  for (const citation of cited.get('citations')?.elements ?? []) sink.citation(index, readCitation(parse(citation)))
}

function readText(text: JsonValue | undefined, index: number, sink: AnswerSink): void {
  const decoded = text && expectKind(text, 'string').text
  if (decoded) sink.text(index, decoded)
}

function readCall(call: ObjectReader, index: number, sink: AnswerSink): void {
  if (call.text('type') !== undefined) return
  sink.call(index, call.text('toolUseId') ?? '', call.text('name') ?? '')
  const input = call.take('input')
  sink.arguments(index, input === undefined ? '{}' : decodeText(input.json))
}

function readReasoning(reasoning: JsonValue, index: number, sink: AnswerSink): void {
  const thought = reasoning.get('reasoningText')
  const [text, signature] = [thought?.get('text'), thought?.get('signature')]
  const decoded = text && expectKind(text, 'string').text
  if (decoded) sink.thinking(index, decoded)
  if (signature !== undefined) sink.signature(index, expectKind(signature, 'string').text)
  const redacted = reasoning.get('redactedContent')
  if (redacted !== undefined) sink.redacted(index, expectKind(redacted, 'string').text)
}

function parse(value: JsonValue | undefined): unknown {
  return value && parseJson(decodeText(value.json))
}
