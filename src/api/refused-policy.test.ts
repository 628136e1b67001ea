import { expect, test } from 'vitest'
import { readRefusedPolicy } from './refused-policy.ts'

const place = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' }
const ref = { ...place, name: 'all' }
const selector = { ...place, matchLabels: { app: 'x' } }

const targets: readonly (readonly [what: string, spec: object, readable: readonly object[], areKnown: boolean])[] = [
  ['a reference', { targetRefs: [ref] }, [ref], true],
  ['a reference to a section', { targetRefs: [{ ...ref, sectionName: 'a' }] }, [{ ...ref, sectionName: 'a' }], true],
  ['a reference with an unknown member', { targetRefs: [{ ...ref, sectoinName: 'a' }] }, [ref], false],
  ['a reference without a group', { targetRefs: [{ kind: 'HTTPRoute', name: 'all' }] }, [{ ...ref, group: '' }], false],
  ['a reference of an unknown kind', { targetRefs: [ref, { ...ref, kind: 'Route' }] }, [ref], false],
  ['a reference whose kind is no text', { targetRefs: [{ ...ref, kind: 7 }] }, [], false],
  ['a reference without a name', { targetRefs: [place] }, [], false],
  ['a selector', { targetSelectors: [selector] }, [selector], true],
  ['a selector of all', { targetSelectors: [{ ...place, matchLabels: {} }] }, [{ ...place, matchLabels: {} }], true],
  ['a selector of an unknown kind', { targetSelectors: [{ ...selector, kind: 'Route' }] }, [], false],
  ['a selector whose kind is no text', { targetSelectors: [{ ...selector, kind: 7 }] }, [], false],
  ['a selector without labels', { targetSelectors: [place] }, [], false],
  ['a selector with a label that is no text', { targetSelectors: [{ ...place, matchLabels: { app: 7 } }] }, [], false],
  ['a reference and a mistake in selectors', { targetRefs: [ref], targetSelectors: 7 }, [ref], false],
  ['a text in place of a list', { targetRefs: 'all' }, [], false],
  ['an empty list', { targetRefs: [] }, [], false],
  ['no targets', {}, [], false],
]

for (const [what, spec, readable, areKnown] of targets) {
  test(`targets: ${what}`, () => {
    const policy = readRefusedPolicy({ kind: 'ProxyPolicy', metadata: { name: 'p' }, spec })!
    expect([...policy.targetRefs, ...policy.targetSelectors]).toEqual(readable)
    expect(policy.targetsKnown).toBe(areKnown)
  })
}
