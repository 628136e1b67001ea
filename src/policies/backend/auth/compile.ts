import { toByteText, trimSpace } from '#base/byte-text.ts'
import { missingKey } from '#base/missing-key.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../policy.ts'
import {
  authorizationHeader,
  canHold,
  compileWritableLocation,
  fieldsAt,
  type WritableLocation,
} from '../../shared/authentication/credential-location.ts'
import { compileCloudOne } from './cloud-one/compile-cloud-one.ts'
import { passCredential, sendCredential } from './run.ts'
import type { AuthForm } from './schema.ts'
import { compileToken } from './token/compile-token.ts'

type Source = PolicySource<AuthForm>

/** A request is never sent without its credential: if the credential is not available, the request is refused first (decision A-36). */
export function compileBackendAuth(sources: readonly Source[], context: CompileContext): RequestRun {
  const source = sources[0]!
  const { passthrough, cloudOne, cloudTwo, cloudThree, location: where } = source.spec
  if (cloudOne !== undefined) return compileCloudOne(source, context)
  if (cloudTwo !== undefined) return compileToken(source, 'cloudTwo', context)
  if (cloudThree !== undefined) return compileToken(source, 'cloudThree', context)
  const location = where === undefined ? undefined : compileWritableLocation(where)
  if (passthrough !== undefined) {
    return {
      request: (exchange) => passCredential(location, exchange),
      fields: fieldsAt(location ?? authorizationHeader('Bearer')),
    }
  }

  const writtenTo = location ?? authorizationHeader('Bearer')
  const credential = credentialOf(source, writtenTo, context)
  if (typeof credential !== 'string') return { request: () => credential, fields: fieldsAt(writtenTo) }
  const from =
    source.spec.secretRef === undefined ? 'the key of the policy' : `the entry of Secret ${source.spec.secretRef.name}`
  return {
    request(exchange) {
      exchange.trace?.note(`sends ${from}`)
      return sendCredential(writtenTo, credential, exchange)
    },
    fields: fieldsAt(writtenTo),
  }
}

/** Byte text of the configured credential, or why it is not available. */
export function credentialOf(source: Source, location: WritableLocation, context: CompileContext): string | Refusal {
  const { key, secretRef } = source.spec
  if (key !== undefined) return usable(source, '.key', toByteText(key), location, context)
  if (secretRef !== undefined) {
    const secret = context.secret(source, secretRef.name)
    const value = secret?.data.Authorization
    if (value !== undefined) return usable(source, '.secretRef', value, location, context)
    const holder = { kind: 'Secret', namespace: source.origin.namespace, name: secretRef.name } as const
    const detail = missingKey(holder, secret?.data, ['Authorization'])!
    const message = `${detail}; requests are refused`
    context.report(source, '.secretRef', { severity: 'error', code: 'secret-missing', message })
    return reject('backend-auth-failed', { detail })
  }
  throw new Error('a backend.auth without a form')
}

function usable(
  source: Source,
  path: string,
  value: string,
  location: WritableLocation,
  context: CompileContext,
): string | Refusal {
  const credential = trimSpace(value)
  if (credential !== '' && canHold(location, credential)) return credential
  const message = 'is empty or cannot be written to the location; requests are refused'
  context.report(source, path, { severity: 'error', code: 'credential-invalid', message })
  return reject('backend-auth-failed', { detail: `the credential of ${source.path}${path} is not usable` })
}
