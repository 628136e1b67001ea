import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { ID, MODEL } from '../texts/treatments.ts'
import { mayNote, noteNames } from './note-names.ts'

function noted(id: string | undefined, model: string | undefined, isGuarded: boolean) {
  const facts = { ...NO_LLM, isGuarded, responseId: 'before', responseModel: 'before' }
  noteNames(id, model, facts)
  return [facts.responseId, facts.responseModel]
}

test.each([false, true])('the names of an answer are noted; guarded: %s', (isGuarded) => {
  expect(noted('chatcmpl-1', 'gpt-4', isGuarded)).toEqual(['chatcmpl-1', 'gpt-4'])
  expect(noted('', '', isGuarded)).toEqual(['', ''])
  expect(noted('chatcmpl-1', undefined, isGuarded)).toEqual(['chatcmpl-1', 'before'])
  expect(noted(undefined, 'gpt-4', isGuarded)).toEqual(['before', 'gpt-4'])
})

test('where guards check texts, a name is noted only if it looks like one', () => {
  expect(noted('a secret', 'a model', false)).toEqual(['a secret', 'a model'])
  expect(noted('a secret', 'gpt-4', true)).toEqual(['before', 'gpt-4'])
  expect(noted('chatcmpl-1', 'a model', true)).toEqual(['chatcmpl-1', 'before'])
  // Each by its own shape.
  const long = 'a'.repeat(257)
  expect([mayNote(long, ID, { isGuarded: true }), mayNote(long, MODEL, { isGuarded: true })]).toEqual([true, false])
  expect(noted(long, long, true)).toEqual([long, 'before'])
})
