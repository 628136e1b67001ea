import type { ClientValidationSpec } from '#api/client-validation.ts'
import type { GatewayObject } from '#api/gateway.ts'
import { GATEWAY_GROUP } from '#api/groups.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import { secretData } from '#api/secret-data.ts'
import type { FindingCode } from '#base/findings.ts'
import type { ClientValidation } from '#plan/item.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import { authorityFault } from '../references/authority-fault.ts'
import { configMapData } from '../references/config-map-data.ts'
import { notFound } from '../references/not-found.ts'
import { wrongReference } from '../references/wrong-reference.ts'

/** Validation of client certificates at a listener. */
export interface ClientTrust {
  /** Undefined: the listener requests no client certificate. */
  readonly validation?: ClientValidation
  /** At least one certificate authority cannot be used. */
  readonly resolvedRefs?: ConditionFault
  /** No certificate authority can be used: the listener is not served (Gateway API, FrontendTLSValidation). */
  readonly accepted?: ConditionFault
}

const NONE: ClientTrust = {}

/**
 * Resolves `spec.tls.frontend` of a Gateway, once for all its listeners.
 * @returns the client validation of a port; the setting of a port replaces the default as a whole
 */
export function readClientTrust(
  context: TranslationContext,
  gateway: GatewayObject,
  report: Report,
): (port: number) => ClientTrust {
  const { frontend } = gateway.spec.tls ?? {}
  if (frontend === undefined) return () => NONE
  const resolve = (validation: ClientValidationSpec | undefined, path: string) =>
    validation === undefined ? NONE : resolveClientValidation(context, gateway, { validation, path }, report)
  const defaultTrust = resolve(frontend.default?.validation, 'spec.tls.frontend.default.validation')
  const perPort = new Map(
    (frontend.perPort ?? []).map(({ port, tls }, index) => [
      port,
      resolve(tls.validation, `spec.tls.frontend.perPort[${index}].tls.validation`),
    ]),
  )
  return (port) => perPort.get(port) ?? defaultTrust
}

/** Resolves the certificate authorities. Unusable ones are omitted. */
export function resolveClientValidation(
  context: TranslationContext,
  owner: Pick<ApiObject, 'kind' | 'metadata'>,
  { validation, path }: { readonly validation: ClientValidationSpec; readonly path: string },
  report: Report,
): ClientTrust {
  const authorities: string[] = []
  const faults: ConditionFault[] = []
  for (const [index, ref] of validation.caCertificateRefs.entries()) {
    const found = resolveAuthority(context, owner, ref)
    if (typeof found === 'string') authorities.push(found)
    else {
      report({
        path: `${path}.caCertificateRefs[${index}]`,
        code: found.code,
        message: found.message,
        severity: 'error',
      })
      faults.push({ reason: found.reason, message: found.message })
    }
  }
  const [resolvedRefs] = faults
  if (resolvedRefs === undefined) return { validation: { authorities, mode: validation.mode } }
  if (authorities.length > 0) return { validation: { authorities, mode: validation.mode }, resolvedRefs }
  return { resolvedRefs, accepted: { reason: 'NoValidCACertificate', message: resolvedRefs.message } }
}

type AuthorityRef = ClientValidationSpec['caCertificateRefs'][number]
type RefFault = ConditionFault & { readonly code: FindingCode }

const INVALID = 'InvalidCACertificateRef'

/** @returns the key of the ConfigMap or Secret, or why it cannot be used */
function resolveAuthority(
  { inventory, grants, tlsMaterial }: TranslationContext,
  owner: Pick<ApiObject, 'kind' | 'metadata'>,
  { group, kind, name, namespace = owner.metadata.namespace }: AuthorityRef,
): string | RefFault {
  if (group !== '' || (kind !== 'ConfigMap' && kind !== 'Secret')) {
    const { message } = wrongReference({ group, kind }, { ConfigMap: '', Secret: '' })
    return { code: 'listener-client-authority', reason: 'InvalidCACertificateKind', message }
  }
  const title = `${kind} ${namespace}/${name}`
  const from = { group: GATEWAY_GROUP, kind: owner.kind, namespace: owner.metadata.namespace }
  if (!grants(from, { group: '', kind, namespace, name })) {
    const message = `no ReferenceGrant permits ${title}`
    return { code: 'reference-not-permitted', reason: 'RefNotPermitted', message }
  }
  const data = kind === 'Secret' ? dataOfSecret(inventory, namespace, name) : dataOfMap(inventory, namespace, name)
  if (data === undefined) {
    const code = kind === 'Secret' ? 'secret-not-found' : 'config-map-not-found'
    return {
      ...notFound(inventory, code, { kind, namespace, name, accepted: ['ConfigMap', 'Secret'] }),
      reason: INVALID,
    }
  }
  const fault = authorityFault({ kind, namespace, name }, data, tlsMaterial)
  if (fault === undefined) return objectKey(kind, namespace, name)
  return { code: 'listener-client-authority', reason: INVALID, message: fault }
}

function dataOfSecret(inventory: TranslationContext['inventory'], namespace: string, name: string) {
  const secret = inventory.find('Secret', namespace, name)
  return secret === undefined ? undefined : secretData(secret)
}

function dataOfMap(inventory: TranslationContext['inventory'], namespace: string, name: string) {
  const map = inventory.find('ConfigMap', namespace, name)
  return map === undefined ? undefined : configMapData(map)
}
