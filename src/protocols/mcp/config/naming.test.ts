import { expect, test } from 'vitest'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { ownedName, ownedUri, publicName, publicUri } from './naming.ts'

const plan = mcpPlan(['a', 'a-b', 'a.b'])
const single = mcpPlan(['a'])

const names: [publicForm: string, target: string | undefined, own: string][] = [
  ['a_echo', 'a', 'echo'],
  ['a_b_c', 'a', 'b_c'],
  ['a-b_c', 'a-b', 'c'],
  ['a.b__c', 'a.b', '_c'],
  ['a_', 'a', ''],
  ['b_echo', undefined, ''],
  ['echo', undefined, ''],
  ['a', undefined, ''],
  ['', undefined, ''],
]

test.each(names)('the name %s belongs to %s', (publicForm, target, own) => {
  const owned = ownedName(plan, publicForm)
  expect(owned?.target.name).toBe(target)
  if (owned === undefined) return
  expect(owned.name).toBe(own)
  expect(publicName(plan, owned.target, owned.name)).toBe(publicForm)
})

const uris: [publicForm: string, target: string | undefined, own: string][] = [
  ['a+memo://x', 'a', 'memo://x'],
  ['a+svn+ssh://h', 'a', 'svn+ssh://h'],
  ['a-b+urn:x:y', 'a-b', 'urn:x:y'],
  ['a.b+file:///{path}', 'a.b', 'file:///{path}'],
  ['memo://x', undefined, ''],
]

test.each(uris)('the URI %s belongs to %s', (publicForm, target, own) => {
  const owned = ownedUri(plan, publicForm)
  expect(owned?.target.name).toBe(target)
  if (owned === undefined) return
  expect(owned.name).toBe(own)
  expect(publicUri(plan, owned.target, owned.name)).toBe(publicForm)
})

test('of targets whose names begin alike the longest owns the name', () => {
  const targets = mcpPlan(['a', 'a_b', 'a_b_c'])
  expect(ownedName(targets, 'a_b_x')?.target.name).toBe('a_b')
  expect(ownedName(targets, 'a_b_c_x')?.target.name).toBe('a_b_c')
  expect(ownedName(targets, 'a_c')?.target.name).toBe('a')
})

test('a single target keeps its names', () => {
  const [target] = single.targets
  expect(publicName(single, target!, 'echo')).toBe('echo')
  expect(publicUri(single, target!, 'memo://x')).toBe('memo://x')
  expect(ownedName(single, 'b_echo')).toMatchObject({ name: 'b_echo' })
  expect(ownedUri(single, 'memo://x')).toMatchObject({ name: 'memo://x' })
})
