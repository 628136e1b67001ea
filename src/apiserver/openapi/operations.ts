import type { ServedKind } from '../kinds/served-kind.ts'
import { verbsOf } from '../kinds/verbs-of.ts'
import { definitionName, META, rootOf } from './definition-names.ts'
import { identityOf, operationGroup, SCALE } from './kind-schemas.ts'

/** One operation of a kind, for both versions of OpenAPI. */
export interface Operation {
  /** With parameters: `/api/v1/namespaces/{namespace}/services/{name}`. */
  readonly path: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** Kubernetes, `x-kubernetes-action`. */
  readonly action: Action
  readonly id: string
  readonly description: string
  /** The kind of the object that the operation is about. */
  readonly identity: { readonly group: string; readonly kind: string; readonly version: string }
  readonly queryParameters: readonly QueryParameter[]
  /** The name of the schema of the body. */
  readonly body?: string
  readonly consumes?: readonly string[]
  /** The name of the schema of the answer. */
  readonly answer: string
}

export type Action = 'list' | 'get' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection'

export interface QueryParameter {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

/** A parameter in a path. */
export const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  namespace: 'Namespace of the object.',
  name: 'Name of the object.',
}

const text = (name: string, description: string): QueryParameter => ({ name, type: 'string', description })

const DRY_RUN = text('dryRun', 'All: nothing is stored.')
const MANAGER = text('fieldManager', 'Name of the manager of the fields that change.')
const VALIDATION = text('fieldValidation', 'What to do with unknown fields: Strict, Warn or Ignore.')
const FORCE: QueryParameter = { name: 'force', type: 'boolean', description: 'Takes fields from other managers.' }
const WRITE = [DRY_RUN, MANAGER, VALIDATION]
const SELECT = [text('labelSelector', 'Selects by labels.'), text('fieldSelector', 'Selects by fields.')]
const LIST: readonly QueryParameter[] = [
  ...SELECT,
  { name: 'limit', type: 'integer', description: 'Number of objects of a page.' },
  text('continue', 'Token of the page, of the list before.'),
  text('resourceVersion', 'Version at which to list, or after which to watch.'),
  text('resourceVersionMatch', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  { name: 'watch', type: 'boolean', description: 'Sends changes instead of a list.' },
  { name: 'allowWatchBookmarks', type: 'boolean', description: 'Whether a watch sends bookmarks.' },
  { name: 'sendInitialEvents', type: 'boolean', description: 'Whether a watch begins with all objects.' },
  { name: 'timeoutSeconds', type: 'integer', description: 'Seconds after which a watch ends.' },
]
const DELETE: readonly QueryParameter[] = [
  DRY_RUN,
  { name: 'gracePeriodSeconds', type: 'integer', description: 'Seconds until the object is removed.' },
  text('propagationPolicy', 'What happens to dependents: Orphan, Background or Foreground.'),
]

const OBJECT_TYPES = ['application/json', 'application/yaml']
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
const STRATEGIC = 'application/strategic-merge-patch+json'

/** All operations of a kind, by path. */
export function operationsOf(kind: ServedKind): readonly Operation[] {
  const root = `/${rootOf(kind)}`
  const all = `${root}/${kind.plural}`
  const inNamespace = kind.namespaced ? `${root}/namespaces/{namespace}/${kind.plural}` : all
  const name = definitionName(kind)
  if (kind.review !== undefined) return [operation(kind, inNamespace, 'post', name, WRITE, name)]
  const list = (path: string, id?: string) => operation(kind, path, 'list', `${name}List`, LIST, undefined, id)
  const one = `${inNamespace}/{name}`
  return [
    ...(kind.namespaced ? [list(all, 'ForAllNamespaces')] : []),
    list(inNamespace),
    operation(kind, inNamespace, 'post', name, WRITE, name),
    ...(verbsOf(kind).includes('deletecollection')
      ? [
          operation(
            kind,
            inNamespace,
            'deletecollection',
            `${META}.Status`,
            [...LIST, ...DELETE],
            `${META}.DeleteOptions`,
          ),
        ]
      : []),
    ...partOperations(kind, one, name, ''),
    operation(kind, one, 'delete', `${META}.Status`, DELETE, `${META}.DeleteOptions`),
    ...(kind.hasStatus ? partOperations(kind, `${one}/status`, name, 'Status') : []),
    ...(kind.scale === undefined ? [] : partOperations(kind, `${one}/scale`, SCALE, 'Scale')),
  ]
}

function partOperations(kind: ServedKind, path: string, schema: string, part: string): readonly Operation[] {
  return [
    operation(kind, path, 'get', schema, [], undefined, part),
    operation(kind, path, 'put', schema, WRITE, schema, part),
    operation(kind, path, 'patch', schema, [...WRITE, FORCE], `${META}.Patch`, part),
  ]
}

const METHODS = {
  list: 'get',
  get: 'get',
  post: 'post',
  put: 'put',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete',
} as const
const WORDS: Readonly<Record<Action, readonly [id: string, description: string]>> = {
  list: ['list', 'List or watch'],
  get: ['read', 'Read'],
  post: ['create', 'Create'],
  put: ['replace', 'Replace'],
  patch: ['patch', 'Change a part of'],
  delete: ['delete', 'Delete'],
  deletecollection: ['deleteCollection', 'Delete all selected'],
}

function operation(
  kind: ServedKind,
  path: string,
  action: Action,
  answer: string,
  queryParameters: readonly QueryParameter[],
  body?: string,
  part = '',
): Operation {
  const [verb, description] = WORDS[action]
  const scope = path.includes('{namespace}') ? 'Namespaced' : ''
  const isScale = answer === SCALE
  return {
    path,
    method: METHODS[action],
    action,
    id: `${verb}${operationGroup(kind)}${scope}${kind.kind}${part}`,
    description:
      part === 'Status' || isScale
        ? `${description} the ${part.toLowerCase()} of a ${kind.kind}.`
        : `${description} ${kind.kind} objects.`,
    identity: isScale ? { group: 'autoscaling', kind: 'Scale', version: 'v1' } : identityOf(kind, kind.kind),
    queryParameters,
    answer,
    ...(body === undefined ? {} : { body, consumes: consumesOf(kind, action) }),
  }
}

function consumesOf({ hasStrategicMerge }: ServedKind, action: Action): readonly string[] {
  if (action !== 'patch') return OBJECT_TYPES
  return hasStrategicMerge ? [...PATCH_TYPES, STRATEGIC] : PATCH_TYPES
}

/** The operations of one path, by method; in the order of the operations. */
export function byPath(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  return Map.groupBy(operations, ({ path }) => path)
}

/** The parameters in a path, in order. */
export function pathParameters(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
}
