import type { ServedKind, WrittenObject } from './served-kind.ts'

/** The one user whose token the server takes; it may do everything. */
const ADMIN = { username: 'admin', groups: ['system:masters', 'system:authenticated'] } as const

const ALLOWED = { allowed: true, reason: 'the token of the kubeconfig allows everything' }
const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
}

/** Questions about access, as `kubectl auth can-i` and `kubectl auth whoami` ask them (Kubernetes, `authorization.k8s.io`, `authentication.k8s.io`). */
export function reviewKinds(): readonly ServedKind[] {
  return [
    reviewKind('authorization.k8s.io', 'SelfSubjectAccessReview', () => ALLOWED),
    reviewKind('authorization.k8s.io', 'SelfSubjectRulesReview', () => EVERYTHING),
    reviewKind('authentication.k8s.io', 'SelfSubjectReview', () => ({ userInfo: ADMIN })),
  ]
}

function reviewKind(group: string, kind: string, status: () => object): ServedKind {
  return {
    group,
    version: 'v1',
    storageVersion: 'v1',
    kind,
    listKind: `${kind}List`,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: false,
    schema: {
      type: 'object',
      description: `A question about access: ${kind}.`,
      'x-kubernetes-preserve-unknown-fields': true,
    },
    hasStatus: false,
    hasGeneration: false,
    columns: [],
    hasStrategicMerge: false,
    review: (written: WrittenObject) => ({ ...written, status: status() }),
    admit: (object) => ({ object, causes: [], warnings: [] }),
  }
}
