import { expect, test } from 'vitest'
import { createSealer, readSessionKeys } from './sealer.ts'

const KEY = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'
const OTHER = 'ff'.repeat(32)
const bytes = new TextEncoder().encode('a session')

function sealerWith(current: string, previous?: string) {
  return createSealer(readSessionKeys({ SESSION_KEY: current, GATEWRIGHT_SESSION_KEY_PREVIOUS: previous }))
}

test('another instance with the same key opens sealed text', () => {
  const sealed = sealerWith(KEY).seal(bytes)
  expect(sealed).toMatch(/^[A-Za-z0-9_-]+$/)
  expect(sealerWith(KEY).open(sealed)).toEqual(Buffer.from(bytes))
})

test('without a key every instance has its own', () => {
  const sealed = createSealer(readSessionKeys({})).seal(bytes)
  expect(createSealer(readSessionKeys({})).open(sealed)).toBeUndefined()
})

test('the previous key opens, but does not seal', () => {
  const rotated = sealerWith(OTHER, KEY)
  expect(rotated.open(sealerWith(KEY).seal(bytes))).toEqual(Buffer.from(bytes))
  expect(sealerWith(KEY).open(rotated.seal(bytes))).toBeUndefined()
})

test('the same bytes are never sealed alike', () => {
  const sealer = sealerWith(KEY)
  expect(sealer.seal(bytes)).not.toBe(sealer.seal(bytes))
})

test('any change makes it worthless', () => {
  const sealer = sealerWith(KEY)
  const sealed = sealer.seal(bytes)
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    expect(sealer.open(changed), `position ${at}`).toBeUndefined()
  }
  for (const text of ['', 'x', `${sealed}=`, ` ${sealed}`, sealed.slice(0, 20), `${sealed}AAAA`]) {
    expect(sealer.open(text), text).toBeUndefined()
  }
})

test.each(['00', `${KEY}00`, KEY.replace('0', 'g'), ` ${KEY}`])('%s is no session key', (key) => {
  expect(() => readSessionKeys({ SESSION_KEY: key })).toThrow('SESSION_KEY must be 64 hexadecimal digits')
  expect(() => readSessionKeys({ GATEWRIGHT_SESSION_KEY_PREVIOUS: key })).toThrow('GATEWRIGHT_SESSION_KEY_PREVIOUS')
})
