import { expect, test } from 'vitest'
import { mergeStatus, ownPart, withdrawStatus } from './merge-status.ts'

const US = 'example.com/us'
const THEM = 'example.com/them'

const condition = (type: string, status: string, lastTransitionTime = 'then') => ({ type, status, lastTransitionTime })
const parent = (controllerName: string, name: string, ...conditions: object[]) => ({
  parentRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name },
  controllerName,
  conditions,
})
const ancestor = (controllerName: string, ancestorRef: object, ...conditions: object[]) => ({
  ancestorRef,
  controllerName,
  conditions,
})

const cases: readonly (readonly [what: string, stored: object | undefined, own: object, merged: object | undefined])[] =
  [
    ['the first entry', undefined, { parents: [parent(US, 'a')] }, { parents: [parent(US, 'a')] }],
    ['nothing to say', undefined, { parents: [] }, { parents: [] }],
    ['nothing new', { parents: [parent(US, 'a')] }, { parents: [parent(US, 'a')] }, undefined],
    [
      'entries of others, those of an older reading included',
      { parents: [parent(THEM, 'x'), parent(US, 'a'), parent(THEM, 'a')] },
      { parents: [parent(US, 'b'), parent(US, 'a', condition('Accepted', 'True')), parent(THEM, 'old')] },
      {
        parents: [
          parent(THEM, 'x'),
          parent(US, 'a', condition('Accepted', 'True')),
          parent(THEM, 'a'),
          parent(US, 'b'),
        ],
      },
    ],
    [
      'an entry that is no longer needed',
      { parents: [parent(US, 'a'), parent(THEM, 'a'), parent(US, 'b')] },
      { parents: [parent(US, 'b')] },
      { parents: [parent(THEM, 'a'), parent(US, 'b')] },
    ],
    [
      'the time of a condition whose status is as before',
      { parents: [parent(US, 'a', condition('Accepted', 'True'), condition('ResolvedRefs', 'True'))] },
      { parents: [parent(US, 'a', condition('Accepted', 'True', 'now'), condition('ResolvedRefs', 'False', 'now'))] },
      { parents: [parent(US, 'a', condition('Accepted', 'True'), condition('ResolvedRefs', 'False', 'now'))] },
    ],
    [
      'defaults that the API adds',
      { ancestors: [ancestor(US, { group: 'us', kind: 'Gateway', name: 'Summary' })] },
      { ancestors: [ancestor(US, { group: 'us', name: 'Summary' })] },
      undefined,
    ],
    [
      'parts of a Gateway',
      { parents: [parent(US, 'a')], other: 1 },
      { parents: [{ ...parent(US, 'a'), parentRef: { name: 'a', sectionName: 'http' } }] },
      { parents: [{ ...parent(US, 'a'), parentRef: { name: 'a', sectionName: 'http' } }], other: 1 },
    ],
    [
      'conditions of others',
      {
        conditions: [condition('Programmed', 'Unknown'), condition('x/Audited', 'True'), condition('Current', 'False')],
      },
      { conditions: [condition('Accepted', 'True'), condition('Programmed', 'True'), condition('x/Audited', 'False')] },
      { conditions: [condition('Programmed', 'True'), condition('x/Audited', 'True'), condition('Accepted', 'True')] },
    ],
    [
      'listeners and addresses',
      {
        addresses: [{ value: '10.0.0.1' }],
        listeners: [
          { name: 'gone', conditions: [condition('x/Audited', 'True')] },
          { name: 'a', attachedRoutes: 1, conditions: [condition('x/Audited', 'True'), condition('Accepted', 'True')] },
        ],
      },
      {
        addresses: [{ value: '10.0.0.2' }],
        listeners: [
          { name: 'new', attachedRoutes: 0, conditions: [condition('Accepted', 'True', 'now')] },
          { name: 'a', attachedRoutes: 2, conditions: [condition('Accepted', 'True', 'now')] },
        ],
      },
      {
        addresses: [{ value: '10.0.0.2' }],
        listeners: [
          { name: 'new', attachedRoutes: 0, conditions: [condition('Accepted', 'True', 'now')] },
          { name: 'a', attachedRoutes: 2, conditions: [condition('x/Audited', 'True'), condition('Accepted', 'True')] },
        ],
      },
    ],
  ]

test.each(cases)('%s', (_, stored, own, merged) => {
  expect(mergeStatus(stored, ownPart(own, US), US)).toEqual(merged)
  if (merged !== undefined) expect(mergeStatus(merged, ownPart(own, US), US)).toBeUndefined()
})

const summary = (controller: string, ...conditions: readonly object[]) =>
  ancestor(controller, { group: 'us', name: 'StatusSummary' }, ...conditions)
const WHOLE = [condition('Accepted', 'True')]

test.each([
  ['nobody else has entries', [], [ancestor(US, { name: 'a' })], WHOLE, [ancestor(US, { name: 'a' })]],
  [
    'others have entries: the whole has no conditions',
    [ancestor(THEM, { name: 'b' })],
    [ancestor(US, { name: 'a' })],
    [condition('x', 'True')],
    [ancestor(THEM, { name: 'b' }), ancestor(US, { name: 'a' })],
  ],
  [
    'others have attached it: we do not say that it is not',
    [ancestor(THEM, { name: 'b' }), summary(US)],
    [summary(US, condition('Attached', 'False'))],
    undefined,
    [ancestor(THEM, { name: 'b' })],
  ],
  ['we have nothing to say about it', [ancestor(THEM, { name: 'b' })], [], undefined, [ancestor(THEM, { name: 'b' })]],
  [
    'Gateways that do not fit are not about targets',
    [ancestor(THEM, { name: 'b' })],
    [summary(US, condition('StatusSummarized', 'True'))],
    [condition('x', 'True')],
    [ancestor(THEM, { name: 'b' }), summary(US, condition('StatusSummarized', 'True'))],
  ],
])('a policy: %s', (_, entries, own, conditions, ancestors) => {
  const theirs = [condition('x', 'True'), condition('Accepted', 'False')]
  const stored = { conditions: entries.length === 0 ? [] : theirs, ancestors: entries }
  const merged = { ...stored, ...mergeStatus(stored, { conditions: WHOLE, ancestors: own }, US) }
  expect(merged).toEqual({ conditions: conditions ?? theirs, ancestors })
})

test('there is room for 16 ancestors', () => {
  const theirs = Array.from({ length: 15 }, (_, n) => ancestor(THEM, { name: `g${n}` }))
  const own = { ancestors: [ancestor(US, { name: 'a' }), ancestor(US, { name: 'b' })] }
  expect(mergeStatus({ ancestors: theirs }, own, US)).toEqual({ ancestors: [...theirs, own.ancestors[0]] })
})

test('there is room for 8 conditions, ours first', () => {
  const theirs = Array.from({ length: 8 }, (_, n) => condition(`x/${n}`, 'True'))
  const own = { conditions: [condition('Accepted', 'True')] }
  expect(mergeStatus({ conditions: theirs }, own, US)).toEqual({
    conditions: [...theirs.slice(0, 7), own.conditions[0]],
  })
})

test.each([
  [undefined, undefined],
  ['x', undefined],
  [{ parents: 1, listeners: 2, conditions: null }, { parents: [] }],
])('a stored status %j without our part', (stored, expected) => {
  expect(withdrawStatus(stored, undefined, US)).toEqual(expected)
})

const GATEWAY = {
  addresses: [{ value: '10.0.0.1' }],
  conditions: [condition('Accepted', 'True'), condition('Programmed', 'True')],
  listeners: [{ name: 'a', conditions: [condition('Accepted', 'True')] }],
}

const withdrawals: readonly (readonly [what: string, stored: object, written: object | undefined, left: unknown])[] = [
  [
    'our entries',
    { parents: [parent(US, 'a'), parent(THEM, 'a')], ancestors: [ancestor(US, { name: 'a' })] },
    undefined,
    { parents: [parent(THEM, 'a')], ancestors: [] },
  ],
  ['a Gateway', GATEWAY, GATEWAY, {}],
  ['a Gateway that we did not write', GATEWAY, undefined, undefined],
  [
    'not what another controller has written since',
    {
      addresses: [{ value: '10.0.0.9' }],
      conditions: [condition('Accepted', 'False', 'later'), condition('Programmed', 'True'), condition('x', 'True')],
      listeners: [
        { name: 'a', conditions: [condition('Accepted', 'True'), condition('x', 'True')] },
        { name: 'b', conditions: [] },
      ],
    },
    GATEWAY,
    {
      addresses: [{ value: '10.0.0.9' }],
      conditions: [condition('Accepted', 'False', 'later'), condition('x', 'True')],
      listeners: [
        { name: 'a', conditions: [condition('x', 'True')] },
        { name: 'b', conditions: [] },
      ],
    },
  ],
]

test.each(withdrawals)('withdrawn: %s', (_, stored, written, left) => {
  expect(withdrawStatus(stored, written && ownPart(written, US), US)).toEqual(left)
})
