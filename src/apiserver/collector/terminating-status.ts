import { compareText } from '#base/compare-text.ts'
import type { Resource, ResourceKey } from '#store/resources/resource.ts'

/** What is left in a Namespace that is being deleted. */
export interface Content {
  readonly key: ResourceKey
  readonly object: Resource
}

/** The status of a terminating Namespace that still has content, with the condition types and reasons of Kubernetes. */
export function terminatingStatus({ status }: Resource, content: readonly Content[], now: string): object {
  const before = ((status ?? {}) as { readonly conditions?: readonly Condition[] }).conditions ?? []
  const kinds = countsOf(content.map(({ key }) => key.collection))
  const finalizers = countsOf(content.flatMap(({ object }) => object.metadata.finalizers ?? []))
  const remaining = kinds.map(([kind, count]) => `${kind} has ${count} resource instances`)
  const waiting = finalizers.map(([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  const conditions: readonly Omit<Condition, 'lastTransitionTime'>[] = [
    {
      type: 'NamespaceContentRemaining',
      status: 'True',
      reason: 'SomeResourcesRemain',
      message: `Some resources are remaining: ${remaining.join(', ')}`,
    },
    waiting.length > 0
      ? {
          type: 'NamespaceFinalizersRemaining',
          status: 'True',
          reason: 'SomeFinalizersRemain',
          message: `Some content in the namespace has finalizers remaining: ${waiting.join(', ')}`,
        }
      : {
          type: 'NamespaceFinalizersRemaining',
          status: 'False',
          reason: 'ContentHasNoFinalizers',
          message: 'All content-preserving finalizers finished',
        },
  ]
  const dated = conditions.map((condition) => {
    const known = before.find((each) => each.type === condition.type && each.status === condition.status)
    return { ...condition, lastTransitionTime: known?.lastTransitionTime ?? now }
  })
  return { ...(status as object | undefined), conditions: dated }
}

interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
}

function countsOf(names: readonly string[]): readonly (readonly [name: string, count: number])[] {
  return [...Map.groupBy(names, (name) => name)]
    .map(([name, all]) => [name, all.length] as const)
    .sort(([a], [b]) => compareText(a, b))
}
