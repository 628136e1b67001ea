import { expect, test } from 'vitest'
import { LocalTable } from '#state/shared-table.ts'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { ownedName } from '../config/naming.ts'
import { bareTargetOf, namingOf, noteListed } from './session-naming.ts'
import { NO_SESSION } from './session-state.ts'

const one = mcpPlan(['a'])
const two = mcpPlan(['a', 'b'])
const begunWith = (plan: typeof one) => ({ ...NO_SESSION, key: 'k', bareTarget: bareTargetOf(plan) })

function ownerOf(plan: typeof one, session: ReturnType<typeof begunWith>, name: string, table: LocalTable) {
  const owned = ownedName(namingOf(plan, session, 'tool', table), name)
  return owned && `${owned.target.name} ${owned.name}`
}

test('a second target: names without a prefix are used until the client has listed the tools again', () => {
  const table = new LocalTable()
  const session = begunWith(one)
  expect(ownerOf(two, session, 'echo', table)).toBe('a echo')
  expect(ownerOf(two, session, 'b_echo', table)).toBe('a b_echo')
  noteListed(two, session, 'prompt', table)
  expect(ownerOf(two, session, 'echo', table)).toBe('a echo')
  noteListed(two, session, 'tool', table)
  expect(ownerOf(two, session, 'echo', table)).toBeUndefined()
  expect(ownerOf(two, session, 'b_echo', table)).toBe('b echo')
  // And back.
  expect(ownerOf(one, session, 'a_echo', table)).toBe('a echo')
  noteListed(one, session, 'tool', table)
  expect(ownerOf(one, session, 'a_echo', table)).toBe('a a_echo')
})

test('only one target is left: names with its prefix are used until the client has listed the tools again', () => {
  const table = new LocalTable()
  const session = begunWith(two)
  expect(ownerOf(one, session, 'a_echo', table)).toBe('a echo')
  expect(ownerOf(one, session, 'b_echo', table)).toBeUndefined()
  noteListed(one, session, 'tool', table)
  expect(ownerOf(one, session, 'a_echo', table)).toBe('a a_echo')
})

test('the only target has been replaced: its names are those of the new one', () => {
  expect(ownerOf(mcpPlan(['c']), begunWith(one), 'echo', new LocalTable())).toBe('c echo')
})

test('without a change nothing is recorded', () => {
  const table = new LocalTable()
  noteListed(one, begunWith(one), 'tool', table)
  expect(table.entries).toEqual([])
})
