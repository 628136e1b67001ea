import { expect, test } from 'vitest'
import { nodeOf, type SchemaNode } from '#schema/index.ts'
import { POLICIES } from './policy-fields.ts'

/** Names that fields of references have in this API. */
const NAMES = /Refs?$|Selector$/

/** Fields that are named like references and do not say what they refer to. */
function mute(node: SchemaNode, path: string): string[] {
  if (node.items !== undefined) return mute(node.items, `${path}[]`)
  return Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
    const at = `${path}.${name}`
    if (!NAMES.test(name)) return mute(member, at)
    return (member.items ?? member).refersTo === undefined ? [at] : []
  })
}

test('every field named like a reference declares its target', () => {
  const found = Object.entries(POLICIES).flatMap(([section, fields]) =>
    Object.values(fields).flatMap((definition) =>
      definition.schema === undefined ? [] : mute(nodeOf(definition.schema), `${section}.${definition.field}`),
    ),
  )
  expect(found).toEqual([])
})
