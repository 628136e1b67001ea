import { expect, test } from 'vitest'
import { GuardLoad } from './guard-load.ts'

const MEBIBYTE = 1024 * 1024

function createGauge() {
  return {
    value: 0,
    add(amount: number) {
      this.value += amount
    },
  }
}

test('holds at most 64 MiB, and shows how much', () => {
  const held = createGauge()
  const load = new GuardLoad(held, createGauge())
  expect(load.take(64 * MEBIBYTE)).toBe(true)
  expect(load.take(1)).toBe(false)
  expect(held.value).toBe(64 * MEBIBYTE)
  load.give(10)
  expect(load.take(10)).toBe(true)
  load.give(64 * MEBIBYTE)
  expect(held.value).toBe(0)
})

test('shows the windows that are judged', () => {
  const windows = createGauge()
  const load = new GuardLoad(createGauge(), windows)
  load.beginWindow()
  load.beginWindow()
  load.endWindow()
  expect(windows.value).toBe(1)
})
