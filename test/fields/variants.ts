import { apiVersionOf, type KindInfo } from '#api/kinds.ts'
import { nodeOf, type SchemaNode } from '#schema/node.ts'
import { badValue } from './bad-values.ts'
import { exampleOf } from './example.ts'
import type { Leaf, Step } from './leaves.ts'

export type Members = Record<string, unknown>

/** A valid object with a valid value in the field. */
export function subjectWith({ kind, steps }: Pick<Leaf, 'kind' | 'steps'>): Members {
  const example = exampleOf(nodeOf(kind.schema), steps, kind.kind) as Members
  return { ...example, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: 'subject' } }
}

/** A copy of a value with another value at a place. */
export function replaced(value: unknown, [step, ...rest]: readonly Step[], by: unknown): unknown {
  if (step === undefined) return by
  if (step === 0) return (value as unknown[]).map((item) => replaced(item, rest, by))
  return { ...(value as Members), [step]: replaced((value as Members)[step], rest, by) }
}

/** An object of a kind, and how it was made. */
export interface Variant {
  readonly title: string
  readonly object: Members
}

/**
 * For a field: a valid object, one with a value that cannot work, and one for each change to the objects and lists that contain the field:
 * a member less, a member more, an unknown member, an item too many, an item twice, a bound passed, another type.
 */
export function* variantsOf(leaf: Leaf): Generator<Variant> {
  const valid = subjectWith(leaf)
  yield { title: leaf.title, object: valid }
  const bad = badValue(leaf.title, leaf.node)
  if (bad !== undefined)
    yield { title: `${leaf.title}: bad value`, object: replaced(valid, leaf.steps, bad) as Members }
  for (let depth = 1; depth <= leaf.steps.length; depth++) {
    const steps = leaf.steps.slice(0, depth)
    const node = nodeAt(leaf.kind, steps)
    const value = valueAt(valid, steps)
    for (const [how, other] of changesOf(node, value)) {
      yield { title: `${leaf.title}, ${steps.join('.')}: ${how}`, object: replaced(valid, steps, other) as Members }
    }
  }
}

function* changesOf(node: SchemaNode, value: unknown): Generator<readonly [how: string, value: unknown]> {
  if (node.scalar === 'JSON') return
  yield ['another type', node.type === 'string' || node.intOrString === true ? true : 'text']
  if (Array.isArray(value)) yield* changesOfList(node, value)
  else if (node.type === 'object' && node.properties !== undefined) yield* changesOfObject(node, value as Members)
  else if (typeof value === 'string') yield* changesOfText(node)
  else if (typeof value === 'number') yield* changesOfNumber(node)
}

function* changesOfList(node: SchemaNode, items: unknown[]): Generator<readonly [string, unknown]> {
  yield ['empty', []]
  if (items.length === 0) return
  yield ['an item twice', [...items, ...items]]
  if (node.maxItems !== undefined) yield ['an item too many', Array.from({ length: node.maxItems + 1 }, () => items[0])]
}

function* changesOfObject(node: SchemaNode, members: Members): Generator<readonly [string, unknown]> {
  yield ['an unknown member', { ...members, noSuchField: 1 }]
  for (const name of Object.keys(members)) {
    const { [name]: _, ...others } = members
    yield [`without ${name}`, others]
  }
  for (const [name, field] of Object.entries(node.properties ?? {})) {
    if (name in members) continue
    yield [`with ${name}`, { ...members, [name]: exampleOf(field, [], `${name}`) }]
  }
}

function* changesOfText({ minLength, maxLength }: SchemaNode): Generator<readonly [string, unknown]> {
  if (minLength !== undefined) yield ['empty', '']
  if (maxLength !== undefined && maxLength < 2000) yield ['too long', 'a'.repeat(maxLength + 1)]
}

function* changesOfNumber({ minimum, maximum }: SchemaNode): Generator<readonly [string, unknown]> {
  if (minimum !== undefined) yield ['too small', minimum - 1]
  if (maximum !== undefined) yield ['too large', maximum + 1]
  yield ['a fraction', 1.5]
}

function nodeAt(kind: KindInfo, steps: readonly Step[]): SchemaNode {
  return steps.reduce<SchemaNode>(
    (node, step) => (step === 0 ? node.items! : (node.properties?.[step] ?? node.additionalProperties!)),
    nodeOf(kind.schema),
  )
}

export function valueAt(value: unknown, steps: readonly Step[]): unknown {
  return steps.reduce<unknown>((inner, step) => (inner as Members)[step], value)
}
