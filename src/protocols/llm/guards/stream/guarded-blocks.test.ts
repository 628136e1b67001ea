import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import type { EventText } from '../../texts/body-texts.ts'
import { GuardedBlocks } from './guarded-blocks.ts'
import { RepeatMemory } from './repeated-text.ts'

test('texts that have ended cost nothing when later ones end', () => {
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const blocks = new GuardedBlocks('Responses', {
    guards: [],
    exchange,
    signal: new AbortController().signal,
    refuse() {},
    progressed() {},
    later() {},
    noted() {},
    repeats: new RepeatMemory(roomFor(0).claim, 0),
  })
  const place = { path: '', start: 0, end: 0, form: 'string', canChange: true } as const
  const textOf = (block: string): EventText => ({
    ...{ block, place, form: 'string', kind: 'delta', ends: false },
    owner: { role: 'assistant', lasts: true },
  })
  const stepsFor = (item: number): number => {
    const block = blocks.of(textOf(`output[${item}].arguments`))!
    const steps = blocks.close([`output[${item}].*`])
    let count = 0
    while (steps.next().done !== true) count++
    expect(block.isFinished).toBe(true)
    return count
  }
  expect(Array.from({ length: 2000 }, (_, item) => stepsFor(item)).every((count) => count === 0)).toBe(true)
  blocks.drop()
})
