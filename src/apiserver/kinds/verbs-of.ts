import type { ServedKind } from './served-kind.ts'

/** What a request does (Kubernetes, "Verbs"). */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

const VERBS: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/** The verbs of a kind, sorted. As in Kubernetes, Namespaces are deleted one by one. */
export function verbsOf(kind: Pick<ServedKind, 'group' | 'kind' | 'review'>): readonly Verb[] {
  if (kind.review !== undefined) return ['create']
  return isNamespaceKind(kind) ? VERBS.filter((verb) => verb !== 'deletecollection') : VERBS
}

export function isNamespaceKind({ group, kind }: Pick<ServedKind, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Namespace'
}
