import { KINDS, type KindInfo } from '#api/kinds.ts'
import { nodeOf, type SchemaNode } from '#schema/node.ts'

/** One step into a value: a field, the first item of a list, or an entry of a map. */
export type Step = string | 0

/** A field without members. */
export interface Leaf {
  readonly kind: KindInfo
  /** From the root of the object. */
  readonly steps: readonly Step[]
  readonly node: SchemaNode
  /** `HTTPRoute.spec.rules[].matches[].path.value` */
  readonly title: string
}

const SKIPPED = new Set(['apiVersion', 'kind', 'metadata', 'status'])

/** The key of an example entry of a map. */
export const MAP_KEY = 'entry'

/** Every leaf of every kind, without metadata and status. */
export function allLeaves(): readonly Leaf[] {
  return KINDS.flatMap((kind) => {
    const { properties = {} } = nodeOf(kind.schema)
    return Object.entries(properties)
      .filter(([name]) => !SKIPPED.has(name))
      .flatMap(([name, node]) => [...leavesIn(kind, node, [name])])
  })
}

function* leavesIn(kind: KindInfo, node: SchemaNode, steps: readonly Step[]): Generator<Leaf> {
  if (node.scalar === 'JSON' || node.intOrString === true) yield leaf(kind, node, steps)
  else if (node.type === 'array') yield* leavesIn(kind, node.items!, [...steps, 0])
  else if (node.type !== 'object') yield leaf(kind, node, steps)
  else if (node.additionalProperties !== undefined)
    yield* leavesIn(kind, node.additionalProperties, [...steps, MAP_KEY])
  else for (const [name, child] of Object.entries(node.properties ?? {})) yield* leavesIn(kind, child, [...steps, name])
}

function leaf(kind: KindInfo, node: SchemaNode, steps: readonly Step[]): Leaf {
  return { kind, node, steps, title: `${kind.kind}${titleOf(steps)}` }
}

/** `.spec.rules[].name` */
export function titleOf(steps: readonly Step[]): string {
  return steps.map((step) => (step === 0 ? '[]' : `.${step}`)).join('')
}
