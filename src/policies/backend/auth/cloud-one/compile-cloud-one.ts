import { trimSpace } from '#base/byte-text.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import { isFieldValue } from '#net/http/field-syntax.ts'
import type { CompileContext, PolicyFields, PolicySource, RequestRun } from '../../../policy.ts'
import type { BackendAuthSpec } from '../schema.ts'
import { isUnusable, refuseUnusable, type Unusable } from '../unusable.ts'
import { type AccessKeys, leavesBodyUnsigned, RequestSigner } from './request-signer.ts'
import { serviceNameProblem, signingScope } from './signing-scope.ts'

type Source = PolicySource<BackendAuthSpec>

const FIELDS: PolicyFields = {
  request: ['authorization', 'content-type', 'date', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'],
}

/** Signs every attempt, after everything else has changed the request (specification 1, 5.6). */
export function compileCloudOne(source: Source, context: CompileContext): RequestRun {
  const { secretRef, serviceName } = source.spec.cloudOne!
  const problem = serviceNameProblem(serviceName)
  const keys = problem ?? readKeys(context.secret(source, secretRef.name)?.data ?? {}, secretRef.name)
  if (isUnusable(keys)) return denied(refuseUnusable(source, keys, context))
  const { destination, clouds } = context
  if (destination === undefined) return denied(reject('backend-auth-failed'))
  const scope = signingScope(serviceName, destination, clouds.region)
  if (isUnusable(scope)) return denied(refuseUnusable(source, scope, context))

  const signer = new RequestSigner(scope, clouds.hashing)
  const unsignedBody = leavesBodyUnsigned(scope.service)
  const note = `signs the request for service ${scope.service} in ${scope.region} with the keys of Secret ${secretRef.name}`
  return {
    request(exchange) {
      exchange.trace?.note(note)
      return proceed
    },
    sign: (exchange) => sign(exchange, signer, keys, unsignedBody),
    readsRequestBody: !unsignedBody,
    fields: FIELDS,
  }
}

function denied(refusal: Refusal): RequestRun {
  return { request: () => refusal, fields: FIELDS }
}

function sign(exchange: Exchange, signer: RequestSigner, keys: AccessKeys, unsignedBody: boolean): Outcome {
  const { request, newRequestBody, requestBody, trace } = exchange
  const body = newRequestBody ?? requestBody
  // A call of the gateway may stream its body, such as a copy of a request.
  if (body === null && !unsignedBody) {
    return reject('backend-auth-failed', { detail: 'a body that streams cannot be signed' })
  }
  signer.sign(request, body ?? undefined, keys, exchange.context.now())
  trace?.credential('header', 'authorization')
  trace?.credential('header', 'x-amz-security-token')
  return proceed
}

function readKeys(data: Readonly<Record<string, string>>, secret: string): AccessKeys | Unusable {
  const path = '.cloudOne.secretRef'
  const missing = (['accessKey', 'secretKey'] as const).find((entry) => data[entry] === undefined)
  if (missing !== undefined) return { code: 'secret-missing', path, why: `Secret ${secret} has no entry ${missing}` }
  const accessKey = trimSpace(data.accessKey!)
  const secretKey = trimSpace(data.secretKey!)
  const sessionToken = trimSpace(data.sessionToken ?? '') || undefined
  const bad = Object.entries({ accessKey, secretKey, sessionToken }).find(
    ([, value]) => value === '' || (value !== undefined && !isFieldValue(value)),
  )
  if (bad === undefined) return { accessKey, secretKey, sessionToken }
  return { code: 'credential-invalid', path, why: `entry ${bad[0]} of Secret ${secret} is empty or not valid` }
}
