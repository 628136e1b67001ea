import { expect, test } from 'vitest'
import { runsOf } from '../../texts/testing.ts'
import { readRequestTexts as readEmbeddings } from '../embeddings/texts.ts'
import { readRequestTexts } from './realtime-texts.ts'

test('events of a session: items, instructions and tools', () => {
  const content = [
    { type: 'input_text', text: 'hi' },
    { type: 'input_audio', audio: 'AAAA', transcript: 'spoken' },
  ]
  const item = { type: 'message', role: 'user', content }
  expect(runsOf({ type: 'conversation.item.create', event_id: 'e', item }, readRequestTexts)).toEqual([
    ['user', 'item.content[0].text: hi', 'item.content[1].transcript: spoken'],
  ])
  const tools = [{ type: 'function', name: 'f', description: 'd' }]
  const session = { type: 'realtime', instructions: 'be brief', tools, voice: 'verse' }
  expect(runsOf({ type: 'session.update', session }, readRequestTexts)).toEqual([
    ['system', 'session.instructions: be brief'],
    ['(system)', 'session.tools[0].name: f!', 'session.tools[0].description: d'],
  ])
  const response = { instructions: 'now', input: [item] }
  expect(runsOf({ type: 'response.create', response }, readRequestTexts)).toHaveLength(2)
  expect(runsOf({ type: 'input_audio_buffer.append', audio: 'AAAA' }, readRequestTexts)).toEqual([])
})

test('inputs of embeddings', () => {
  expect(runsOf({ model: 'm', input: ['a', 'b'], encoding_format: 'float' }, readEmbeddings)).toEqual([
    ['user', 'input[0]: a'],
    ['user', 'input[1]: b'],
  ])
  expect(runsOf({ model: 'm', input: [[1, 2]] }, readEmbeddings)).toEqual([
    ['user', 'input[0][0]: 1! (number)'],
    ['user', 'input[0][1]: 2! (number)'],
  ])
})
