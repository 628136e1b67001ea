import v8 from 'node:v8'
import vm from 'node:vm'
import { expect, test } from 'vitest'
import { ownText } from './own-text.ts'

test.each([0, 1, 12, 13, 4096, 4097])('a text of %i bytes is the same text', (length) => {
  const text = Array.from({ length }, (_, i) => String.fromCharCode(i % 256)).join('')
  expect(ownText(`<${text}>`.slice(1, -1))).toBe(text)
})

/** Parts of 20 texts of a megabyte. */
const partsBy = (take: (text: string) => string) =>
  Array.from({ length: 20 }, (_, i) => take(Buffer.alloc(1e6, 32 + i).toString('latin1')))

test('a text does not keep the text that it is a part of', () => {
  v8.setFlagsFromString('--expose-gc')
  const collectGarbage = vm.runInNewContext('gc') as () => void
  // Each collection takes long: test files share their memory.
  const usedMb = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed / 1e6
  }
  const before = usedMb()
  const own = partsBy((text) => ownText(text.slice(0, 5000)))
  const between = usedMb()
  const parts = partsBy((text) => text.slice(0, 5000))
  const after = usedMb()
  expect([own.length, parts.length]).toEqual([20, 20])
  expect(between - before).toBeLessThan(6)
  expect(after - between).toBeGreaterThan(14)
})
