import { expect, test } from 'vitest'
import {
  BACKEND_FIELDS,
  backendFull,
  FRONTEND_FIELDS,
  frontend,
  TRAFFIC_FIELDS,
  traffic,
} from '#api/policy-sections.ts'
import { nodeOf, type SchemaNode } from '#schema/index.ts'
import { referencesOf, valuesAt } from './field-references.ts'

const NAMES = ['backendRef', 'secretRef', 'secretSelector', 'mtlsCertificateRef', 'caCertificateRefs']

/** Paths of all references below a schema. */
function referencesIn(node: SchemaNode, path: string): string[] {
  if (node.items !== undefined) return referencesIn(node.items, `${path}[]`)
  return Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`
    if (!NAMES.includes(name)) return referencesIn(member, at)
    return [member.items === undefined ? at : `${at}[]`]
  })
}

const sections = [
  ['frontend', FRONTEND_FIELDS, frontend],
  ['traffic', TRAFFIC_FIELDS, traffic],
  ['backend', BACKEND_FIELDS, backendFull],
] as const

for (const [section, fields, schema] of sections) {
  test.each([...fields])(`every reference that ${section}.%s can hold is followed`, (field) => {
    const found = referencesIn(nodeOf(schema).properties?.[field] ?? {}, '')
    expect(
      referencesOf(section, field)
        .map(({ at }) => at)
        .sort(),
    ).toEqual(found.sort())
  })
}

test.each([
  ['a', { a: 1 }, [{ value: 1, path: '.a' }]],
  ['a.b', { a: { b: 2 } }, [{ value: 2, path: '.a.b' }]],
  ['a.b', { a: 1 }, []],
  ['a.b', { a: null }, []],
  ['a.b', undefined, []],
  [
    'a[].b',
    { a: [{ b: 1 }, {}, { b: 3 }] },
    [
      { value: 1, path: '.a[0].b' },
      { value: 3, path: '.a[2].b' },
    ],
  ],
  ['a[]', { a: ['x'] }, [{ value: 'x', path: '.a[0]' }]],
  ['a[]', { a: 'x' }, []],
])('the values at %s of %j', (at, value, expected) => {
  expect(valuesAt(value, at)).toEqual(expected)
})
