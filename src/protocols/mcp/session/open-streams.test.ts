import { expect, test } from 'vitest'
import { OpenStreams } from './open-streams.ts'

test('streams are told when their backend has other targets, and only then', () => {
  const streams = new OpenStreams()
  const told: string[] = []
  const one = { targets: ['x', 'y'], changed: () => told.push('one') }
  streams.add('b', one)
  streams.add('b', { targets: ['x'], changed: () => told.push('other') })
  streams.replaced('c', [])
  streams.replaced('b', ['y', 'x'])
  expect(told).toEqual(['other'])
  streams.replaced('b', ['x', 'z'])
  expect(told).toEqual(['other', 'one', 'other'])
  streams.delete('b', one)
  streams.replaced('b', ['x', 'y', 'z'])
  expect(told).toEqual(['other', 'one', 'other', 'other'])
})
