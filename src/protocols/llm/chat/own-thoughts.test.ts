import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { readRequest as readMessages } from '../dialects/messages/read-request.ts'
import { readRequest } from '../dialects/responses/read-request.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import type { Conversation, Part } from './conversation.ts'
import { Loops } from './loops.ts'
import { Losses } from './losses.ts'
import { keepOwnThoughts } from './own-thoughts.ts'

function read(...encrypted: readonly string[]): Conversation {
  const items = encrypted.map((encrypted_content) => ({
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Hm.' }],
    encrypted_content,
  }))
  const body = parseDocument(new TextEncoder().encode(JSON.stringify({ model: 'm', input: items })))
  if (!(body instanceof JsonValue)) throw new Error('not JSON')
  return runAtOnce(readRequest(body, new Losses()))
}

const shown = (part: Part) =>
  part.kind === 'thinking' ? `${part.kind}${part.signature === undefined ? '' : ' signed'}` : part.kind

test.each<[provider: string, encrypted: string, kept: string[], lost: string[]]>([
  ['messages', 'gatewright:messages:signature:s', ['thinking signed'], []],
  ['converse', 'gatewright:messages:signature:s', ['thinking signed'], []],
  ['messages', 'gatewright:converse:signature:s', ['thinking signed'], []],
  ['completions', 'gatewright:messages:signature:s', ['thinking'], []],
  ['messages', 'gatewright:completions:signature:s', ['thinking'], []],
  ['messages', 'gatewright:messages:redacted:s', ['redacted'], []],
  // How the platforms write such data is not the same.
  ['converse', 'gatewright:messages:redacted:s', [], ['input[0] (a thought of another provider)']],
  ['completions', 'gatewright:messages:redacted:s', [], ['input[0] (a thought of another provider)']],
])('a provider of %s gets of %s: %j', (provider, encrypted, kept, lost) => {
  const losses = new Losses()
  const { turns } = keepOwnThoughts(read(encrypted), provider, new Loops(), losses)
  expect(turns[0]!.parts.map(shown)).toEqual(kept)
  expect(losses.paths).toEqual(lost)
})

test.each<[provider: string, signature: string, kept: string]>([
  ['completions', 'gatewright:completions:signature:s', 'thinking signed'],
  ['converse', 'gatewright:completions:signature:s', 'thinking'],
  ['completions', 's', 'thinking'],
  ['converse', 's', 'thinking signed'],
])('of clients of messages, a provider of %s gets the thought signed %s as %s', (provider, signature, kept) => {
  const thought = { type: 'thinking', thinking: 'Hm.', signature }
  const messages = [{ role: 'assistant', content: [thought] }]
  const bytes = new TextEncoder().encode(JSON.stringify({ model: 'm', max_tokens: 1, messages }))
  const conversation = runAtOnce(readMessages(parseDocument(bytes) as JsonValue, new Losses()))
  const { turns } = keepOwnThoughts(conversation, provider, new Loops(), new Losses())
  expect(turns[0]!.parts.map(shown)).toEqual([kept])
})

test('without foreign thoughts, a conversation is the same', () => {
  const conversation = read('gatewright:messages:signature:s')
  expect(keepOwnThoughts(conversation, 'messages', new Loops(), new Losses())).toBe(conversation)
})
