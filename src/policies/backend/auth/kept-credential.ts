import type { Exchange } from '#exchange/exchange.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'
import { afterwards, type Step } from '#exchange/step.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { CloudCredential, CredentialRequest } from '../../shared/clouds/cloud-credential.ts'
import type { AuthForm } from './schema.ts'
import { pathIn } from './unusable.ts'

/** The credential that the main thread obtains with a request. Reports that it cannot be obtained. @param label without secrets */
export function keptCredential(
  source: PolicySource<AuthForm>,
  request: CredentialRequest,
  label: string,
  context: CompileContext,
): CloudCredential {
  const { hashing, credentials } = context.clouds
  const id = `${label} ${hashing.sha256(new TextEncoder().encode(JSON.stringify(request)))}`
  const credential = credentials.at({ id, label, request })
  const { state } = credential
  const path = pathIn(source, `.${request.cloud}`)
  if (state?.failure === undefined) return credential
  if (state.value === undefined) {
    const message = `the ${label} cannot be obtained, and requests are refused until it can: ${state.failure}`
    context.report(source, path, { severity: 'error', code: 'credential-unavailable', message })
  } else {
    const since = new Date(state.fetchedMs).toISOString()
    const message = `the ${label} cannot be renewed; the one obtained at ${since} stays in use until it expires: ${state.failure}`
    context.report(source, path, { severity: 'warning', code: 'credential-stale', message })
  }
  return credential
}

/** Waits until there is a credential that has not expired, and refuses the request if there is none in time (decision A-104). */
export function awaitCredential(credential: CloudCredential, note: string, use: (exchange: Exchange) => Outcome): Step {
  return (exchange) => {
    exchange.trace?.note(note)
    if (credential.current(exchange.context.now()) !== undefined || !credential.isKept) return use(exchange)
    const pending = credential.renew()
    if (pending === undefined) return unavailable(credential)
    return afterwards(exchange, pending, () =>
      credential.current(exchange.context.now()) === undefined ? unavailable(credential) : use(exchange),
    )
  }
}

function unavailable({ label, state }: CloudCredential): Outcome {
  const why = state?.failure ?? (state?.value === undefined ? 'no answer yet' : 'it has expired')
  return reject('backend-credential-unavailable', {
    detail: `the ${label} is not available: ${why}`,
    endpointFault: 'unavailable',
  })
}

/** What `explain` writes, which obtains no credentials; it shows none either. */
export const NOT_OBTAINED = 'not-obtained'
