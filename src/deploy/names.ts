import { toByteText } from '#base/byte-text.ts'
import { sha256OfByteText } from '#base/sha256.ts'

/** Label of everything that belongs to a Gateway, pods included, with `labelValue` of its name (Gateway API, GEP-1762). */
export const GATEWAY_LABEL = 'gateway.networking.k8s.io/gateway-name'

const MAX_LENGTH = 63
const KEPT_LENGTH = 50
const DIGEST_LENGTH = 12

/** A name of a Service (RFC 1035, 2.3.1): a Gateway may also have dots in its name, or a digit first. */
const SERVICE_NAME = /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/

/** A text as the value of a label: longer ones are cut, and end with a part of their digest. */
export function labelValue(text: string): string {
  return text.length <= MAX_LENGTH ? text : withDigest(text, text)
}

/** The name of the objects of a Gateway. */
export function nameOfObjects(gateway: string): string {
  if (SERVICE_NAME.test(gateway)) return labelValue(gateway)
  return withDigest(gateway.replace(/^(?=\d)/, 'gateway-').replaceAll('.', '-'), gateway)
}

function withDigest(text: string, whole: string): string {
  const digest = sha256OfByteText(toByteText(whole)).slice(0, DIGEST_LENGTH)
  return `${text.slice(0, KEPT_LENGTH).replace(/-+$/, '')}-${digest}`
}
