import { expect, test } from 'vitest'
import type { ClientFormat } from '../request/route-type.ts'
import { dropForeignThoughts } from './drop-foreign-thoughts.ts'

const TAGGED = 'gatewright:completions:signature:c2ln'
const encode = (text: string) => new TextEncoder().encode(text)

test.each<[type: ClientFormat, body: string, sent: string]>([
  [
    'Messages',
    `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"${TAGGED}"}, {"type":"text","text":"b"},{"type":"thinking","thinking":"u","signature":"own"}]}], "n":1e2}`,
    '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"thinking","thinking":"u","signature":"own"}]}], "n":1e2}',
  ],
  [
    'Responses',
    `{"input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[],"encrypted_content":"${TAGGED}"},{"type":"reasoning","summary":[],"encrypted_content":"own"}]}`,
    '{"input":[{"role":"user","content":"a"},{"type":"reasoning","summary":[],"encrypted_content":"own"}]}',
  ],
  // A text that looks like one.
  ['Responses', `{"input":"${TAGGED}"}`, `{"input":"${TAGGED}"}`],
  ['Messages', `{"messages":[{"content":["${TAGGED}",1,null]}]}`, `{"messages":[{"content":["${TAGGED}",1,null]}]}`],
  ['Completions', `{"messages":[{"content":"${TAGGED}"}]}`, `{"messages":[{"content":"${TAGGED}"}]}`],
])('thoughts of other providers in a request of the type %s', (type, body, sent) => {
  // At another place than the first byte of its memory.
  const bytes = encode(` ${body}`).subarray(1)
  expect(new TextDecoder().decode(dropForeignThoughts(type, bytes))).toBe(sent)
})

test('a request without them is the same bytes', () => {
  const body = encode('{"messages":[{"content":[{"type":"thinking","thinking":"t","signature":"own"}]}]}')
  expect(dropForeignThoughts('Messages', body)).toBe(body)
})
