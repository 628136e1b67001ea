import { expect, test } from 'vitest'
import { GuardLoad } from './guard-load.ts'

function createGauge() {
  return {
    value: 0,
    add(amount: number) {
      this.value += amount
    },
  }
}

test('shows how much is held', () => {
  const held = createGauge()
  const load = new GuardLoad(held, createGauge())
  load.change(30)
  load.change(-10)
  expect(held.value).toBe(20)
})

test('shows the windows that are judged', () => {
  const windows = createGauge()
  const load = new GuardLoad(createGauge(), windows)
  load.beginWindow()
  load.beginWindow()
  load.endWindow()
  expect(windows.value).toBe(1)
})
