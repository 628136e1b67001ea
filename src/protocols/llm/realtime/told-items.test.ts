import { expect, test } from 'vitest'
import { tellItems } from './told-items.ts'

const part = (name: string, text: string) => ({ type: 'x', [name]: text })
const message = { id: 'i', role: 'assistant', content: [part('text', 'a'), part('transcript', 'b'), {}] }

test.each<[type: string, event: object, told: unknown[][]]>([
  ['conversation.item.deleted', { item_id: 'i' }, [['removed', 'i']]],
  ['conversation.item.deleted', {}, [['removed', '']]],
  ['session.updated', { session: { instructions: 'a' } }, [['instructed', 'a']]],
  ['session.updated', {}, [['instructed', '']]],
  [
    'input_audio_buffer.committed',
    { item_id: 'i', previous_item_id: 'p' },
    [['added', { id: 'i', previous: 'p', role: 'user', text: '' }]],
  ],
  [
    'conversation.item.added',
    { previous_item_id: 'p', item: message },
    [['added', { id: 'i', previous: 'p', role: 'assistant', text: 'ab' }]],
  ],
  [
    'conversation.item.added',
    { item: { id: 'i', type: 'function_call_output', output: 'o' } },
    [['added', { id: 'i', previous: undefined, role: 'tool', text: 'o' }]],
  ],
  [
    'response.done',
    { response: { conversation_id: 'c', output: [message] } },
    [['added', { id: 'i', previous: undefined, role: 'assistant', text: '' }]],
  ],
  ['response.done', { response: { conversation_id: '', output: [message] } }, []],
  ['response.done', { response: { conversation_id: null, output: [message] } }, []],
  ['response.done', { response: { output: [message] } }, []],
])('%s of %j', (type, event, expected) => {
  const told: unknown[][] = []
  tellItems(type, event, {
    added: (item) => told.push(['added', item]),
    removed: (id) => told.push(['removed', id]),
    instructed: (text) => told.push(['instructed', text]),
  })
  expect(told).toEqual(expected)
})
