import v8 from 'node:v8'
import vm from 'node:vm'
import { expect, test } from 'vitest'
import { ownText } from './own-text.ts'

test.each([0, 1, 12, 13, 4096, 4097])('a text of %i bytes is the same text', (length) => {
  const text = Array.from({ length }, (_, i) => String.fromCharCode(i % 256)).join('')
  expect(ownText(`<${text}>`.slice(1, -1))).toBe(text)
})

/** Megabytes of memory that parts of 64 texts of a megabyte keep. */
function keptMb(take: (text: string) => string): number {
  v8.setFlagsFromString('--expose-gc')
  const collectGarbage = vm.runInNewContext('gc') as () => void
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const parts = Array.from({ length: 64 }, (_, i) => take(Buffer.alloc(1e6, 32 + i).toString('latin1')))
  collectGarbage()
  const kept = process.memoryUsage().heapUsed - before
  return parts.length > 0 ? kept / 1e6 : 0
}

test('a text does not keep the text that it is a part of', () => {
  expect(keptMb((text) => text.slice(0, 5000))).toBeGreaterThan(40)
  expect(keptMb((text) => ownText(text.slice(0, 5000)))).toBeLessThan(20)
})
