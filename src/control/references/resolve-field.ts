import { objectKey } from '#api/object.ts'
import { policyDefinition } from '#api/policy-fields.ts'
import { secretData } from '#api/secret-data.ts'
import type { FindingCode } from '#base/findings.ts'
import { missingKey } from '#base/missing-key.ts'
import type { BackendRef } from '#plan/backend-key.ts'
import { type Reference, walk } from '#schema/index.ts'
import { hasLabels, type Labels } from '../context/label-selector.ts'
import type { PolicyField } from '../context/policy-item.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { notFound } from './not-found.ts'
import { reportUnusedPort, resolveBackend } from './resolve-backend.ts'

/** The resolved references of a policy field. */
export interface ResolvedField {
  /** Keys of backends that it calls. */
  readonly backends: readonly string[]
  /** Keys of backends that it refers to without a ReferenceGrant. */
  readonly notPermitted: readonly string[]
  /** Keys of the Secrets and ConfigMaps that it reads. */
  readonly material: readonly string[]
  /** Error messages about its references. */
  readonly faults: readonly string[]
}

interface Progress {
  readonly context: TranslationContext
  readonly field: PolicyField
  readonly report: Report
  readonly backends: string[]
  readonly notPermitted: string[]
  readonly material: string[]
  readonly faults: string[]
}

const NOTHING: ResolvedField = { backends: [], notPermitted: [], material: [], faults: [] }

/** Resolves the references of a field and reports those that cannot be resolved. The field is part of the plan in either case. */
export function resolveField(context: TranslationContext, field: PolicyField, report: Report): ResolvedField {
  const schema = policyDefinition(field.section, field.field)?.schema
  if (schema === undefined) return NOTHING
  const progress: Progress = { context, field, report, backends: [], notPermitted: [], material: [], faults: [] }
  for (const { node, value, path } of walk(schema, field.spec, field.path)) {
    if (node.refersTo !== undefined && value !== undefined) resolveReference(progress, node.refersTo, value, path)
  }
  const { backends, notPermitted, material, faults } = progress
  return { backends, notPermitted, material, faults }
}

// The schema of the field guarantees the shape of a reference.
function resolveReference(progress: Progress, reference: Reference, value: unknown, path: string): void {
  switch (reference.to) {
    case 'backend':
      return resolveBackendRef(progress, value as BackendRef, path)
    case 'keySet':
      return resolveKeySet(progress, value as BackendRef, path)
    case 'secret':
      return resolveSecret(progress, reference, value as { readonly name: string }, path)
    case 'configMap':
      return resolveConfigMap(progress, reference, value as { readonly name: string }, path)
    case 'secrets':
      return resolveSecretSelector(progress, value as { readonly matchLabels: Labels }, path)
  }
}

function addFault({ report, faults }: Progress, path: string, code: FindingCode, message: string): void {
  faults.push(`${path}: ${message}`)
  report({ path, code, message, severity: 'error' })
}

function resolveBackendRef(progress: Progress, ref: BackendRef, path: string): void {
  const { key, fault } = resolveBackend(progress.context, progress.field.object, ref)
  if (fault !== undefined) {
    addFault(progress, `${path}${fault.field}`, fault.code, fault.message)
    if (fault.reason === 'RefNotPermitted' && key !== undefined) progress.notPermitted.push(key)
    return
  }
  if (key !== undefined) progress.backends.push(key)
  reportUnusedPort(progress.report, ref, path)
  if (ref.kind === 'ProxyBackend') reportWithoutAddress(progress, ref, path)
}

/** Only requests of clients name a destination. */
function reportWithoutAddress(progress: Progress, { namespace, name }: BackendRef, path: string): void {
  const own = progress.field.object.metadata.namespace
  const backend = progress.context.inventory.find('ProxyBackend', namespace ?? own, name)
  if (backend?.spec.dynamicForwardProxy === undefined) return
  const title = `ProxyBackend ${backend.metadata.namespace}/${name}`
  const message = `${title} has no address of its own (dynamicForwardProxy), so the gateway cannot send it requests; refer to a Service or another ProxyBackend`
  addFault(progress, path, 'backend-without-address', message)
}

/** Key sets are fetched only from Services and static backends (decision A-62). */
function resolveKeySet(progress: Progress, ref: BackendRef, path: string): void {
  resolveBackendRef(progress, ref, path)
  const { namespace } = progress.field.object.metadata
  if (ref.kind !== 'ProxyBackend') return
  const backend = progress.context.inventory.find('ProxyBackend', ref.namespace ?? namespace, ref.name)
  if (backend === undefined || backend.spec.static !== undefined) return
  const message = `ProxyBackend ${backend.metadata.namespace}/${ref.name} is not static; a key set requires a Service or a static backend`
  addFault(progress, path, 'key-set-backend', message)
}

function resolveSecret(progress: Progress, { entries }: Reference, { name }: { name: string }, path: string): void {
  const { namespace } = progress.field.object.metadata
  const secret = progress.context.inventory.find('Secret', namespace, name)
  if (secret === undefined) {
    const object = { kind: 'Secret', namespace, name } as const
    const { code, message } = notFound(progress.context.inventory, 'secret-not-found', object)
    return addFault(progress, path, code, message)
  }
  progress.material.push(objectKey('Secret', namespace, name))
  const missing = missingKey({ kind: 'Secret', namespace, name }, secretData(secret), ...entries)
  if (missing !== undefined) addFault(progress, path, 'secret-key-missing', missing)
}

function resolveConfigMap(progress: Progress, { entries }: Reference, { name }: { name: string }, path: string): void {
  const { namespace } = progress.field.object.metadata
  const map = progress.context.inventory.find('ConfigMap', namespace, name)
  if (map === undefined) {
    const object = { kind: 'ConfigMap', namespace, name } as const
    const { code, message } = notFound(progress.context.inventory, 'config-map-not-found', object)
    return addFault(progress, path, code, message)
  }
  progress.material.push(objectKey('ConfigMap', namespace, name))
  const data = { ...map.data, ...map.binaryData }
  const missing = missingKey({ kind: 'ConfigMap', namespace, name }, data, ...entries)
  if (missing !== undefined) addFault(progress, path, 'config-map-key-missing', missing)
}

function resolveSecretSelector(progress: Progress, { matchLabels }: { matchLabels: Labels }, path: string): void {
  const { namespace } = progress.field.object.metadata
  const found = progress.context.inventory
    .inNamespace('Secret', namespace)
    .filter(({ metadata }) => hasLabels(metadata.labels ?? {}, matchLabels))
  for (const { metadata } of found) progress.material.push(objectKey('Secret', namespace, metadata.name))
  if (found.length > 0) return
  addFault(progress, path, 'selector-matches-nothing', `no Secret in namespace ${namespace} has these labels`)
}
