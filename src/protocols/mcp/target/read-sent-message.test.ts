import { expect, test } from 'vitest'
import { readSentMessage } from './read-sent-message.ts'

test.each([
  [
    { method: 'tools/call', params: { name: 'x' } },
    { method: 'tools/call', tool: 'x' },
  ],
  [
    { method: 'prompts/get', params: { name: 'x' } },
    { method: 'prompts/get', prompt: 'x' },
  ],
  [{ method: 'other', params: { name: 'x' } }, { method: 'other' }],
  [{ method: 'tools/call', params: { name: 1 } }, { method: 'tools/call' }],
  [{ method: 'ping' }, { method: 'ping' }],
  [{ result: {} }, undefined],
])('of the message %j, policies see %j', (message, seen) => {
  expect(readSentMessage(JSON.stringify(message))).toEqual(seen)
})
