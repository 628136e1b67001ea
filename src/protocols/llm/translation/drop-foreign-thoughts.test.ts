import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { dropForeignThoughts } from './drop-foreign-thoughts.ts'

const TAGGED = 'gatewright:completions:signature:c2ln'
const THOUGHT = `{"type":"thinking","thinking":"t","signature":"${TAGGED}"}`
const REASONING = `{"type":"reasoning","summary":[],"encrypted_content":"${TAGGED}"}`
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
  // Messages that have nothing else.
  [
    'Messages',
    `{"messages":[{"role":"user","content":"a"}, {"role":"assistant","content":[${THOUGHT}, ${THOUGHT}]},{"role":"user","content":[${THOUGHT} ,{"type":"text"}, ${THOUGHT},${THOUGHT}]}]}`,
    '{"messages":[{"role":"user","content":"a"},{"role":"user","content":[{"type":"text"}]}]}',
  ],
  ['MessagesTokenCount', `{"messages":[{"content":[ ${THOUGHT} ]}, {"content":[]}]}`, '{"messages":[{"content":[]}]}'],
  ['Messages', `{"messages":[{"content":[${THOUGHT}]}, {"content":[${THOUGHT}]}]}`, '{"messages":[]}'],
  [
    'Responses',
    `{"input":[${REASONING}, ${REASONING}, {"role":"user"}, ${REASONING},{"role":"user","content":"b"} ]}`,
    '{"input":[{"role":"user"},{"role":"user","content":"b"} ]}',
  ],
  // A text that looks like one.
  ['Responses', `{"input":"${TAGGED}"}`, `{"input":"${TAGGED}"}`],
  ['Messages', `{"messages":[{"content":["${TAGGED}",1,null]}]}`, `{"messages":[{"content":["${TAGGED}",1,null]}]}`],
  ['Completions', `{"messages":[{"content":"${TAGGED}"}]}`, `{"messages":[{"content":"${TAGGED}"}]}`],
])('thoughts of other providers in a request of the type %s', (type, body, sent) => {
  // At another place than the first byte of its memory.
  const bytes = encode(` ${body}`).subarray(1)
  expect(new TextDecoder().decode(runAtOnce(dropForeignThoughts(type, bytes)))).toBe(sent)
})

test('a request without them is the same bytes', () => {
  const body = encode('{"messages":[{"content":[{"type":"thinking","thinking":"t","signature":"own"}]}]}')
  expect(runAtOnce(dropForeignThoughts('Messages', body))).toBe(body)
})

test('of a long request, they are removed in many steps', () => {
  const elements = Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? REASONING : '{"role":"user"}'))
  const steps = dropForeignThoughts('Responses', encode(`{"input":[${elements.join(',')}]}`))
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  expect(new TextDecoder().decode(step.value)).toBe(`{"input":[${Array(10_000).fill('{"role":"user"}').join(',')}]}`)
  expect(count).toBeGreaterThan(100)
})
