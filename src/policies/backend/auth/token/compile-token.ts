import { withProduct } from '#base/products.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource, RequestRun } from '../../../policy.ts'
import { authorizationHeader, fieldsAt } from '../../../shared/authentication/credential-location.ts'
import { awaitCredential, keptCredential, NOT_OBTAINED } from '../kept-credential.ts'
import { sendCredential } from '../run.ts'
import type { AuthForm } from '../schema.ts'
import { isUnusable, refuseUnusable } from '../unusable.ts'
import { cloudThreeRequest } from './cloud-three-request.ts'
import { cloudTwoRequest } from './cloud-two-request.ts'

const BEARER = authorizationHeader('Bearer')
const REQUESTS = { cloudTwo: cloudTwoRequest, cloudThree: cloudThreeRequest }

/** Sends a token of a cloud as bearer token (specification 1, 5.6). */
export function compileToken(
  source: PolicySource<AuthForm>,
  cloud: 'cloudTwo' | 'cloudThree',
  context: CompileContext,
): RequestRun {
  const { destination } = context
  if (destination?.signing?.only === true) {
    const why = `${withProduct(cloud)} cannot be used with an agent runtime; use ${withProduct('cloudOne')} or a bearer token`
    return denied(refuseUnusable(source, { code: 'credential-invalid', path: `.${cloud}`, why }, context))
  }
  const built = REQUESTS[cloud](source, destination, context)
  if (isUnusable(built)) return denied(refuseUnusable(source, built, context))
  if (destination === undefined) return denied(reject('backend-auth-failed'))
  const credential = keptCredential(source, built.request, built.label, context)
  const step = awaitCredential(credential, `sends the ${built.label}`, (exchange) => {
    const secret = credential.current(exchange.context.now())?.secret
    return sendCredential(BEARER, secret !== undefined && 'token' in secret ? secret.token : NOT_OBTAINED, exchange)
  })
  return { request: step, fields: fieldsAt(BEARER) }
}

function denied(refusal: Refusal): RequestRun {
  return { request: () => refusal, fields: fieldsAt(BEARER) }
}
