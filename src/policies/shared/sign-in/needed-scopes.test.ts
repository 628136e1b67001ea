import { expect, test } from 'vitest'
import type { JsonObject } from '#base/json.ts'
import { neededScopes, withScopes } from './needed-scopes.ts'

/** Rules that require scopes in a claim. */
function rules(claims: JsonObject, claim: string, ...required: readonly string[]) {
  const tried: (readonly string[])[] = []
  return {
    tried,
    allows(added: readonly string[]): boolean {
      tried.push(added)
      const value = withScopes(claims, added)[claim]
      const held = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
      return required.every((scope) => held.includes(scope))
    },
  }
}

const SUPPORTED = ['read', 'write', 'admin']

test.each<[JsonObject, claim: string, required: readonly string[], needed: readonly string[] | undefined]>([
  [{ scope: 'read' }, 'scope', ['write'], ['read', 'write']],
  [{ scope: 'read openid' }, 'scope', ['read', 'admin'], ['read', 'admin']],
  [{}, 'scope', ['write', 'admin'], ['write', 'admin']],
  [{ scp: ['read'] }, 'scp', ['write'], ['read', 'write']],
  [{ scp: ['read'] }, 'scp', ['read', 'write'], ['read', 'write']],
  [{ scp: 'read' }, 'scp', ['write'], ['read', 'write']],
  [{ permissions: ['read'] }, 'permissions', ['write'], ['read', 'write']],
  [{}, 'scp', ['write'], ['write']],
  [{ scope: 'read' }, 'scope', ['delete'], undefined],
  [{ scope: 'read write admin' }, 'scope', ['delete'], undefined],
])('claims %j, rules on %s that require %j: %j', (claims, claim, required, needed) => {
  expect(neededScopes(claims, SUPPORTED, rules(claims, claim, ...required).allows)).toEqual(needed)
})

test('a token with all scopes is not tried', () => {
  const { allows, tried } = rules({ scope: 'read write admin' }, 'scope')
  expect(neededScopes({ scope: 'read write admin' }, SUPPORTED, allows)).toBeUndefined()
  expect(tried).toEqual([])
})

test('at most 32 scopes are tried', () => {
  const many = Array.from({ length: 100 }, (_, i) => `s${i}`)
  const { allows, tried } = rules({}, 'scope', 's31')
  expect(neededScopes({}, many, allows)).toEqual(['s31'])
  expect(tried).toHaveLength(33)
  expect(neededScopes({}, many, rules({}, 'scope', 's32').allows)).toBeUndefined()
})

test('claims that are neither text nor a list are replaced', () => {
  expect(withScopes({ scope: 7, scp: {}, sub: 'a' }, ['x'])).toEqual({
    scope: 'x',
    scp: ['x'],
    permissions: ['x'],
    sub: 'a',
  })
})
