import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { JsonValue, parseInSteps } from '../json/json-document.ts'
import { misspelledMember } from './misspelled-member.ts'

test.each<[event: object, found: string | undefined]>([
  [{ type: 'x', item: { id: 'i', role: 'user', content: [{ Type: 'input_text' }] } }, undefined],
  [
    { type: 'x', Voice: 'v', item_id: 'i', previous_item_id: 'p', session: {}, response: { input: [{ id: 'i' }, 1] } },
    undefined,
  ],
  [{ type: 'x', item: [{ Id: 'i' }], session: 'Id', response: { input: 'Id' } }, undefined],
  [{ Type: 'x' }, 'Type'],
  [{ type: 'x', TYPE: 'y' }, 'TYPE'],
  [{ type: 'x', 're\u017fponse': {} }, 're\u017fponse'],
  [{ type: 'x', item: { Role: 'system' } }, 'Role'],
  [{ type: 'x', session: { Instructions: 'a' } }, 'Instructions'],
  [{ type: 'x', response: { INPUT: [] } }, 'INPUT'],
  [{ type: 'x', response: { input: [{ type: 'message' }, { Id: 'i' }] } }, 'Id'],
])('%j', (event, found) => {
  const value = runAtOnce(parseInSteps(Buffer.from(JSON.stringify(event))))
  expect(value instanceof JsonValue && runAtOnce(misspelledMember(value))).toBe(found)
})
