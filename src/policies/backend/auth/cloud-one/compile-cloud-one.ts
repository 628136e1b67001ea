import { trimSpace } from '#base/byte-text.ts'
import type { Hashing } from '#base/hashing.ts'
import { missingKey } from '#base/missing-key.ts'
import { PRODUCTS } from '#base/products.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal, reject } from '#exchange/outcome.ts'
import type { Step } from '#exchange/step.ts'
import { isFieldValue } from '#net/http/field-syntax.ts'
import type { CompileContext, PolicyFields, PolicySource, RequestRun, SecretMaterial } from '../../../policy.ts'
import { authorizationHeader } from '../../../shared/authentication/credential-location.ts'
import type {
  AccessKeys,
  CloudCredential,
  Credential,
  CredentialRequest,
} from '../../../shared/clouds/cloud-credential.ts'
import { awaitCredential, keptCredential, NOT_OBTAINED } from '../kept-credential.ts'
import { sendCredential } from '../run.ts'
import type { AuthForm } from '../schema.ts'
import { isUnusable, refuseUnusable, type Unusable } from '../unusable.ts'
import { leavesBodyUnsigned, RequestSigner } from './request-signer.ts'
import type { SigningScope } from './scope-signer.ts'
import { isEventStream, SignedEvents } from './signed-events.ts'
import { serviceNameProblem, signingScope } from './signing-scope.ts'

type Source = PolicySource<AuthForm>

const BEARER = authorizationHeader('Bearer')

const FIELDS: PolicyFields = {
  request: ['authorization', 'content-type', 'date', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'],
}

/** What an attempt is signed with, or what it has instead of a signature; undefined: there is nothing. */
type Secret = (exchange: Exchange) => Credential['secret'] | undefined

/** Signs every attempt, after everything else has changed the request (specification 1, 5.6). */
export function compileCloudOne(source: Source, context: CompileContext): RequestRun {
  const { secretRef, serviceName } = source.spec.cloudOne!
  const problem = serviceNameProblem(serviceName)
  if (problem !== undefined) return denied(refuseUnusable(source, problem, context))
  const fixed = secretRef && readKeys(source, secretRef.name, context.secret(source, secretRef.name)?.data)
  if (fixed !== undefined && isUnusable(fixed)) return denied(refuseUnusable(source, fixed, context))
  const { destination, clouds } = context
  if (destination === undefined) return denied(reject('backend-auth-failed'))
  const scope = signingScope(serviceName, destination, clouds.region)
  if (isUnusable(scope)) return denied(refuseUnusable(source, scope, context))
  const { signing } = destination
  if (signing?.only === true && scope.service !== signing.service) {
    const message = `the backend accepts only signatures for ${signing.service}; remove serviceName`
    context.report(source, '.cloudOne.serviceName', { severity: 'warning', code: 'inconsistent', message })
  }

  const run = signingRun(scope, clouds.hashing)
  const note = `signs the request for service ${scope.service} in ${scope.region} with the`
  if (fixed !== undefined) return run(noting(`${note} keys of Secret ${secretRef!.name}`), () => ({ keys: fixed }))
  const chain = keptCredential(source, requestFor(scope, source.spec), LABEL, context)
  return run(
    awaitCredential(chain, `${note} ${LABEL}`, () => proceed),
    ({ context }) => secretFrom(chain, context.now()),
  )
}

/**
 * The chain of the vendor's tools has an API key for one service. Unlike a signature it can be used again by who reads it, so that
 * it goes only where credentials go without a policy: to hosts of the cloud over TLS (decision B12).
 */
function requestFor({ service }: SigningScope, { implied }: AuthForm): CredentialRequest {
  return service === 'bedrock' && implied === true ? { cloud: 'cloudOne', service } : { cloud: 'cloudOne' }
}

const LABEL = `keys of ${PRODUCTS.cloudOne} from the environment of the gateway`
/** What `explain` signs with, which obtains no credentials; it shows no signature either. */
const NO_KEYS = { keys: { accessKey: NOT_OBTAINED, secretKey: '', sessionToken: undefined } }

function secretFrom(chain: CloudCredential, nowMs: number): Credential['secret'] | undefined {
  return chain.isKept ? chain.current(nowMs)?.secret : NO_KEYS
}

function noting(text: string): Step {
  return ({ trace }) => {
    trace?.note(text)
    return proceed
  }
}

function signingRun(scope: SigningScope, hashing: Hashing): (request: Step, secret: Secret) => RequestRun {
  const signer = new RequestSigner(scope, hashing)
  const unsignedBody = leavesBodyUnsigned(scope.service)
  return (request, secret) => ({
    request,
    signature: {
      coversBody: (request) => !unsignedBody && !isEventStream(request),
      sign: (exchange) => sign(exchange, signer, secret(exchange), unsignedBody),
    },
    fields: FIELDS,
  })
}

function denied(refusal: Refusal): RequestRun {
  return { request: () => refusal, fields: FIELDS }
}

function sign(
  exchange: Exchange,
  signer: RequestSigner,
  secret: Credential['secret'] | undefined,
  unsignedBody: boolean,
): Outcome {
  const { request, trace } = exchange
  // They expired since the request waited for them.
  if (secret === undefined) {
    const detail = `the ${LABEL} have expired`
    return reject('backend-credential-unavailable', { detail, endpointFault: 'unavailable' })
  }
  if ('token' in secret) {
    trace?.note('sends the API key of the environment instead of a signature')
    return sendCredential(BEARER, secret.token, exchange)
  }
  const { keys } = secret
  // Signatures are for one request.
  exchange.sentCredential = keys.sessionToken
  const nowMs = exchange.context.now()
  if (!unsignedBody && isEventStream(request)) {
    const events = signer.signEvents(request, keys, nowMs)
    exchange.signBody = (body, limits) => new SignedEvents(body, limits, events, exchange)
    trace?.note('signs each event of the body')
  } else {
    const body = exchange.newRequestBody ?? exchange.requestBody.whole
    // A call of the gateway may stream its body, such as a copy of a request.
    if (body === undefined && exchange.requestBody.kind === 'large' && !unsignedBody) {
      return reject('backend-auth-failed', { detail: 'a body that streams cannot be signed' })
    }
    signer.sign(request, body, keys, nowMs)
  }
  trace?.credential('header', 'authorization')
  trace?.credential('header', 'x-amz-security-token')
  return proceed
}

function readKeys({ origin }: Source, secret: string, data: SecretMaterial['data'] | undefined): AccessKeys | Unusable {
  const path = '.cloudOne.secretRef'
  const holder = { kind: 'Secret', namespace: origin.namespace, name: secret } as const
  const why = missingKey(holder, data, ['accessKey'], ['secretKey'])
  if (data === undefined || why !== undefined) return { code: 'secret-missing', path, why: why! }
  const accessKey = trimSpace(data.accessKey!)
  const secretKey = trimSpace(data.secretKey!)
  const sessionToken = trimSpace(data.sessionToken ?? '') || undefined
  const bad = Object.entries({ accessKey, secretKey, sessionToken }).find(
    ([, value]) => value === '' || (value !== undefined && !isFieldValue(value)),
  )
  if (bad === undefined) return { accessKey, secretKey, sessionToken }
  return { code: 'credential-invalid', path, why: `entry ${bad[0]} of Secret ${secret} is empty or not valid` }
}
