import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { GuardedBlocks } from './guarded-blocks.ts'
import { KeptTextMemory } from './kept-text.ts'

function blocksWith(memory?: KeptTextMemory): GuardedBlocks {
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const signal = new AbortController().signal
  const nothing = () => {}
  const observer = { refuse: nothing, fail: nothing, progressed: nothing, later: nothing, noted: nothing }
  return new GuardedBlocks({ guards: [], exchange, signal, ...observer }, memory)
}

const place = { path: '', start: 0, end: 0, form: 'string', canChange: true } as const

function textOf(block: string, more: Partial<EventText> = {}): EventText {
  return { block, place, form: 'string', kind: 'delta', ends: false, sequence: undefined, ...more }
}

test('texts that have ended cost nothing when later ones end', () => {
  const blocks = blocksWith(new KeptTextMemory(roomFor(1_000_000).claim, 1_000_000))
  const stepsFor = (item: number): number => {
    const block = blocks.of(textOf(`output[${item}].arguments`), item)!
    const steps = blocks.close([`output[${item}].*`])
    let count = 0
    while (steps.next().done !== true) count++
    expect(block.isFinished).toBe(true)
    return count
  }
  expect(Array.from({ length: 2000 }, (_, item) => stepsFor(item)).every((count) => count === 0)).toBe(true)
  blocks.drop()
})

test('a stream has room for 1,024 open texts, and for as many ended ones as there is memory', () => {
  const blocks = blocksWith()
  for (let at = 0; at < 1024; at++) expect(blocks.of(textOf(`choices[${at}].delta.content`), 0)).toBeDefined()
  expect(blocks.of(textOf('choices[1024].delta.content'), 0)).toBeUndefined()
  expect(blocks.of(textOf('choices[7].delta.content'), 1)).toBeDefined()
  runAtOnce(blocks.close(['choices[7].*']))
  expect(blocks.of(textOf('choices[1024].delta.content'), 1)).toBeDefined()
  const kept = blocksWith(new KeptTextMemory(roomFor(0, 1000).claim, 1000))
  expect([0, 1, 2, 3].map((at) => kept.of(textOf(`${at}`), 0) !== undefined)).toEqual([true, true, true, false])
})

test('a text of a sequence ends when another one begins in a later event', () => {
  const blocks = blocksWith()
  const open = (block: string, event: number, more: Partial<EventText> = { sequence: 'choices[0]' }) => {
    const made = blocks.of(textOf(block, more), event)!
    made.lastEvent = event
    return made
  }
  const [thought, details] = [open('reasoning', 0), open('reasoning_details', 0)]
  const [other, call] = [open('other', 0, { sequence: 'choices[1]' }), open('call', 0, {})]
  expect(open('reasoning', 1)).toBe(thought)
  expect(details.isFinished).toBe(false)
  open('content', 2)
  expect([thought, details, other, call].map(({ isFinished }) => isFinished)).toEqual([true, true, false, false])
  expect(open('reasoning', 3)).not.toBe(thought)
})
