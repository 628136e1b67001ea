import type { PolicyDestination } from '../../../policy.ts'
import type { Unusable } from '../unusable.ts'
import type { SigningScope } from './scope-signer.ts'

/** What a name must be so that the scope of a signature is not ambiguous. */
const SERVICE = /^[a-z0-9-]+$/i
const PATH = '.cloudOne'

/**
 * What signatures for the endpoint must be valid for: the service that the policy or the type of the backend names, in the region of the
 * backend, of its hostname, or of the environment.
 */
export function signingScope(
  serviceName: string | undefined,
  { hostname, signing }: PolicyDestination,
  environmentRegion: string | undefined,
): SigningScope | Unusable {
  const service = serviceName ?? signing?.service
  const region = signing?.region ?? regionOf(hostname) ?? environmentRegion
  if (service === undefined) {
    const why = 'the backend does not determine the service of signatures; set serviceName'
    return { code: 'credential-incomplete', path: PATH, why }
  }
  if (region === undefined) {
    const why =
      'neither the backend nor its hostname has a region for signatures; set AWS_REGION in the environment of the gateway'
    return { code: 'credential-incomplete', path: PATH, why }
  }
  return { service, region }
}

/** The problem of a name that the user has chosen. */
export function serviceNameProblem(serviceName: string | undefined): Unusable | undefined {
  if (serviceName === undefined || SERVICE.test(serviceName)) return undefined
  const why = `${JSON.stringify(serviceName)} cannot be the name of a service`
  return { code: 'credential-invalid', path: `${PATH}.serviceName`, why }
}

/** The region in a hostname of the cloud: `sqs.eu-west-1.amazonaws.com`, `id.lambda-url.us-east-1.on.aws`. */
function regionOf(hostname: string | undefined): string | undefined {
  const name = hostname?.toLowerCase() ?? ''
  if (!/\.(?:amazonaws\.com(?:\.cn)?|api\.aws|on\.aws)$/.test(name)) return undefined
  return name.split('.').findLast((label) => /^[a-z]{2}(?:-(?:gov|iso[a-z]?))?-[a-z]+-\d+$/.test(label))
}
