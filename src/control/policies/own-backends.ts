import { policyDefinition } from '#api/policy-fields.ts'
import { ownBackendName } from '#exchange/backend-name.ts'
import type { BackendItem } from '#plan/item.ts'
import { backendTarget } from '#plan/target.ts'
import { fieldPath, walk } from '#schema/index.ts'
import { fieldsOf, type PolicyField } from '../context/policy-item.ts'

/** A backend that a part of a field is by itself, such as a service that a prompt guard asks, with its policies. */
export interface OwnBackendItem {
  readonly item: BackendItem
  readonly policies: readonly PolicyField[]
}

export function ownBackends(field: PolicyField): readonly OwnBackendItem[] {
  const schema = policyDefinition(field.section, field.field)?.schema
  if (schema === undefined) return []
  const found: OwnBackendItem[] = []
  for (const { node, value, path } of walk(schema, field.spec, field.path)) {
    if (node.ownBackend === undefined || !isObject(value)) continue
    const own = node.ownBackend(value as never)
    if (own !== undefined) found.push(ownBackend(field, path, own, value))
  }
  return found
}

function ownBackend(
  { object }: PolicyField,
  path: string,
  own: { readonly type: string; readonly spec: object },
  value: Readonly<Record<string, unknown>>,
): OwnBackendItem {
  const { namespace } = object.metadata
  const name = ownBackendName({ kind: object.kind, name: object.metadata.name }, path)
  const item = {
    kind: 'backend',
    key: backendTarget('ProxyBackend', { namespace, name }),
    namespace,
    name,
    path,
    ...own,
    broken: undefined,
    origin: object.origin,
  }
  const policies = isObject(value.policies) ? value.policies : {}
  // The schema of the part determines type and spec together.
  return { item: item as BackendItem, policies: fieldsOf(object, 'backend', policies, fieldPath(path, 'policies')) }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
