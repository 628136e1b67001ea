import { findKind, type KindInfo } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { walk } from '#schema/index.ts'
import { itemsOf, membersOf, textOf } from './kubeconfig.ts'

export type Labels = Readonly<Record<string, string>>

/** The Secrets that an object refers to. */
export interface SecretReferences {
  /** Keys (`objectKey`). */
  readonly keys: readonly string[]
  /** Each selects Secrets of the object's namespace by their labels. */
  readonly selectors: readonly Labels[]
}

const NONE: SecretReferences = { keys: [], selectors: [] }
/** Kinds of the Gateway API with references to Secrets. */
const REFERRING: ReadonlySet<string> = new Set(['Gateway', 'ListenerSet', 'BackendTLSPolicy'])

/** Finds the Secrets that a valid object refers to, whether it may do so or not. */
export function secretReferences(object: ApiObject): SecretReferences {
  const info = findKind(object.kind)
  if (info?.own === true) return ownReferences(info, object)
  if (!REFERRING.has(object.kind)) return NONE
  return { keys: [...referencesIn(object.spec, object.metadata.namespace)], selectors: [] }
}

function ownReferences({ schema }: KindInfo, object: ApiObject): SecretReferences {
  const { namespace } = object.metadata
  const keys: string[] = []
  const selectors: Labels[] = []
  for (const { node, value } of walk(schema, object)) {
    if (node.refersTo?.to === 'secret') keys.push(objectKey('Secret', namespace, textOf(membersOf(value).name) ?? ''))
    else if (node.refersTo?.to === 'secrets') selectors.push(membersOf(membersOf(value).matchLabels) as Labels)
  }
  return { keys, selectors }
}

/** A reference of the Gateway API names its kind, if only by the default of its field. */
function* referencesIn(value: unknown, namespace: string): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of itemsOf(value)) yield* referencesIn(item, namespace)
    return
  }
  const { kind, group = '', name, namespace: other } = membersOf(value)
  if (kind === 'Secret' && group === '' && textOf(name) !== undefined)
    yield objectKey('Secret', textOf(other) ?? namespace, textOf(name)!)
  for (const member of Object.values(membersOf(value))) yield* referencesIn(member, namespace)
}
