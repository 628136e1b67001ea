import { expect, test } from 'vitest'
import { GuardLoad } from '#exchange/guard-load.ts'
import { HeldText } from './held-text.ts'

const KIB = 1024

function load() {
  const gauges = { held: 0, windows: 0 }
  const gauge = (name: keyof typeof gauges) => ({
    add: (amount: number) => {
      gauges[name] += amount
    },
  })
  return { gauges, load: new GuardLoad(gauge('held'), gauge('windows')) }
}

test('a stream holds 64 KiB of several events', () => {
  const { gauges, load: worker } = load()
  const held = new HeldText(worker)
  expect(held.take(KIB)).toBe(true)
  expect(held.take(63 * KIB)).toBe(true)
  expect(held.take(1)).toBe(false)
  expect(held.bytes).toBe(64 * KIB)
  held.give(KIB)
  expect(held.take(KIB)).toBe(true)
  held.drop()
  expect([held.bytes, gauges.held]).toEqual([0, 0])
  held.drop()
  expect(gauges.held).toBe(0)
})

test('one event that is larger counts for itself', () => {
  const { gauges, load: worker } = load()
  const held = new HeldText(worker)
  expect(held.take(KIB)).toBe(true)
  expect(held.take(64 * KIB + 1)).toBe(true)
  expect(held.take(63 * KIB)).toBe(true)
  expect(held.take(1)).toBe(false)
  held.give(KIB)
  expect(held.take(64 * KIB + 1)).toBe(false)
  held.give(64 * KIB + 1)
  expect(held.take(100 * KIB)).toBe(true)
  expect(held.bytes).toBe(163 * KIB)
  held.drop()
  expect(held.take(100 * KIB)).toBe(true)
  expect(held.take(64 * KIB)).toBe(true)
  expect(gauges.held).toBe(164 * KIB)
})

test('an event of 64 KiB that leaves does not count as the larger one', () => {
  const { load: worker } = load()
  const held = new HeldText(worker)
  expect(held.take(65 * KIB)).toBe(true)
  expect(held.take(64 * KIB)).toBe(true)
  held.give(64 * KIB)
  expect(held.take(65 * KIB)).toBe(false)
})

test('the streams of a worker hold 64 MiB; what was refused is not counted', () => {
  const { gauges, load: worker } = load()
  const first = new HeldText(worker)
  const second = new HeldText(worker)
  expect(first.take(64 * KIB * KIB - 10)).toBe(true)
  expect(second.take(11)).toBe(false)
  expect(second.bytes).toBe(0)
  expect(second.take(10)).toBe(true)
  expect(second.take(1)).toBe(false)
  first.drop()
  expect(second.take(1)).toBe(true)
  expect(gauges.held).toBe(11)
})
