import { expect, test } from 'vitest'
import { KnownTools, MAX_KNOWN_TOOLS } from './known-tools.ts'

const TOOL = { name: 'x', annotations: { readOnlyHint: true } }
const KNOWN = { annotations: { readOnlyHint: true }, digest: expect.stringMatching(/^[0-9a-f]{32}$/) }

test('a tool is known for five minutes, until its target says that the list has changed', () => {
  const tools = new KnownTools()
  tools.note('a', 'x', TOOL, 0)
  expect(tools.find('a', 'x', 299_999)).toMatchObject(KNOWN)
  expect(tools.find('a', 'x', 300_000)).toBeUndefined()
  expect(tools.find('b', 'x', 0)).toBeUndefined()
  expect(tools.find('a', 'y', 0)).toBeUndefined()
  tools.forget('b')
  expect(tools.find('a', 'x', 0)).toBeDefined()
  tools.forget('a')
  expect(tools.find('a', 'x', 0)).toBeUndefined()
})

test('a flood of names does not displace known tools, nor tools of other targets', () => {
  const tools = new KnownTools()
  for (let i = 0; i <= MAX_KNOWN_TOOLS; i++) tools.note('a', `x${i}`, TOOL, 0)
  expect(tools.find('a', 'x0', 1)).toBeDefined()
  expect(tools.find('a', `x${MAX_KNOWN_TOOLS}`, 1)).toBeUndefined()
  tools.note('b', 'x', TOOL, 0)
  expect(tools.find('b', 'x', 1)).toBeDefined()
  // Old ones make room.
  tools.note('a', 'new', TOOL, 300_000)
  expect(tools.find('a', 'new', 300_001)).toBeDefined()
})

test('a session lists the tools of a target once in ten seconds', async () => {
  const tools = new KnownTools()
  let lists = 0
  const list = async (): Promise<void> => void lists++
  await Promise.all([tools.listOnce('a', 's', 0, list), tools.listOnce('a', 's', 9_999, list)])
  expect(lists).toBe(1)
  await tools.listOnce('a', 'other', 0, list)
  await tools.listOnce('b', 's', 0, list)
  expect(lists).toBe(3)
  await tools.listOnce('a', 's', 10_000, list)
  expect(lists).toBe(4)
  tools.forget('a')
  await tools.listOnce('a', 's', 10_001, list)
  expect(lists).toBe(5)
})

test('a flood of sessions drops the oldest listings', async () => {
  const tools = new KnownTools()
  let lists = 0
  const list = async (): Promise<void> => void lists++
  for (let i = 0; i <= 4096; i++) await tools.listOnce('a', `s${i}`, 0, list)
  await tools.listOnce('a', 's4096', 1, list)
  expect(lists).toBe(4097)
  await tools.listOnce('a', 's0', 1, list)
  expect(lists).toBe(4098)
})

test('digests are right with and without kept texts', () => {
  const tools = new KnownTools()
  const tool = (version: number) => ({ name: 'x', description: `${version} ${'d'.repeat(100_000)}` })
  const digests = [1, 1, 2, 1].map((version) => tools.note('a', 'x', tool(version), 0)?.digest)
  expect([digests[0] === digests[1], digests[0] === digests[2], digests[0] === digests[3]]).toEqual([true, false, true])
  // Larger than all texts of a target together.
  for (let i = 0; i < 4; i++) tools.note('a', `y${i}`, { ...tool(1), name: `y${i}` }, 0)
  expect(tools.note('a', 'y3', { ...tool(1), name: 'y3' }, 0)).toEqual(tools.find('a', 'y3', 0))
  expect(tools.note('a', 'y3', { ...tool(2), name: 'y3' }, 0)?.digest).not.toBe(digests[0])
})

test('the listing of a session is kept while others list as well', () => {
  const tools = new KnownTools()
  let listed = 0
  const list = async () => void listed++
  for (const session of ['one', 'two', 'three', 'one']) void tools.listOnce('a', session, 0, list)
  expect(listed).toBe(3)
})
