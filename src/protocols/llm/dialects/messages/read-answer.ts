import { Pace, type Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { NO_TOKENS } from '#exchange/llm-facts.ts'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import { WORK_PER_BLOCK } from '../../chat/dialect.ts'
import { ObjectReader } from '../../chat/object-reader.ts'
import { readReportedError } from '../../chat/read-error.ts'
import { STOP_REASONS } from '../../chat/stop-reasons.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { decodeText } from '../../json/native.ts'
import { readCitation } from './read-blocks.ts'
import { MessagesUsage } from './response.ts'

/** Reads a message of the messages API. */
export function* readAnswer(body: JsonValue, sink: AnswerSink): Steps<void> {
  const message = new ObjectReader(body)
  const error = message.take('error') && readReportedError(parse(body))
  if (error !== undefined) {
    sink.fail(error)
    return sink.end()
  }
  const content = message.require('content', message.takeKind('content', 'array'))
  sink.start(message.text('id') ?? '', message.text('model') ?? '')
  const pace = new Pace()
  const blocks = content.children()
  for (let block = blocks.next(); block !== undefined; block = blocks.next()) {
    readBlock(new ObjectReader(block), blocks.index, sink)
    sink.close(blocks.index)
    if (pace.after(WORK_PER_BLOCK)) yield
  }
  const usage = message.take('usage')
  if (usage !== undefined) readUsage(parse(usage), sink)
  const reason = message.text('stop_reason') ?? ''
  const refused = message.object('stop_details')?.text('explanation')
  if (reason === 'refusal' && refused) {
    sink.refusal(blocks.index + 1, refused)
    sink.close(blocks.index + 1)
  }
  sink.finish(STOP_REASONS.messages.read(reason), message.text('stop_sequence'))
  sink.end()
}

/** Calls that the provider runs itself, and their results, are no part of the answer. */
function readBlock(block: ObjectReader, index: number, sink: AnswerSink): void {
  switch (block.text('type')) {
    case 'text': {
      const text = block.text('text') ?? ''
      if (text !== '') sink.text(index, text)
      for (const citation of block.list('citations')?.elements ?? [])
        sink.citation(index, readCitation(parse(citation)))
      break
    }
    case 'thinking': {
      const [thought, signature] = [block.text('thinking'), block.text('signature')]
      if (thought) sink.thinking(index, thought)
      if (signature) sink.signature(index, signature)
      break
    }
    case 'redacted_thinking':
      sink.redacted(index, block.text('data') ?? '')
      break
    case 'tool_use': {
      sink.call(index, block.text('id') ?? '', block.text('name') ?? '')
      const input = block.take('input')
      sink.arguments(index, input === undefined ? '{}' : decodeText(input.json))
    }
  }
}

function readUsage(usage: unknown, sink: AnswerSink): void {
  const counts = { ...NO_TOKENS, serviceTier: undefined }
  new MessagesUsage().read(usage, counts)
  sink.usage(counts)
}

function parse(value: JsonValue): unknown {
  return parseJson(decodeText(value.json))
}
