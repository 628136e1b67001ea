import { expect, test } from 'vitest'
import { UnreportedOutput } from './unreported-output.ts'

function outputOf(responses: number): UnreportedOutput {
  const output = new UnreportedOutput()
  for (let i = 0; i < responses; i++) output.add(`r${i}`, 'several words of it ', 0)
  return output
}

test('a provider that begins 1,000 responses fills no memory: from the 17th on they are one', () => {
  const output = outputOf(1000)
  const sixteen = outputOf(16).tokens
  expect(output.tokens).toBeGreaterThan(10 * sixteen)
  // What belongs to no known response is a part of the one that is reported.
  output.reported('r500')
  expect(output.tokens).toBe(sixteen)
  output.reported('r0')
  expect(output.tokens).toBe(outputOf(15).tokens)
})

test('each second of audio has 20 tokens', () => {
  const output = new UnreportedOutput()
  // 24,000 samples of 16 bits each second, in base64.
  output.add('r', undefined, (1000 * 24_000 * 2 * 4) / 3)
  expect(output.tokens).toBe(20_000)
})
