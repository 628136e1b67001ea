import { type Address, hostAddress } from '../address.ts'
import type { AgentRuntimeSpec } from './backend-schema.ts'
import { RUNTIME_SERVICE, type RuntimeArn, readRuntimeArn, runtimeHost } from './runtime-arn.ts'

/** The ARN of an admitted backend. */
export function arnOf({ agentRuntimeArn }: AgentRuntimeSpec): RuntimeArn {
  const arn = readRuntimeArn(agentRuntimeArn)
  if (typeof arn === 'string') throw new Error(`an ARN was admitted that ${arn}`)
  return arn
}

/**
 * The service in the region of the runtime, over TLS. Requests without a policy are signed with credentials from the environment (decisions
 * B12, B92), and all have the path and query of the runtime (B91).
 */
export function runtimeAddress(spec: AgentRuntimeSpec): Address {
  const arn = arnOf(spec)
  return {
    ...hostAddress({ host: runtimeHost(arn), port: 443 }, undefined, true),
    signing: { service: RUNTIME_SERVICE, region: arn.region, only: true },
    ambient: 'cloudOne',
    target: targetOf(spec),
  }
}

function targetOf({ agentRuntimeArn, qualifier }: AgentRuntimeSpec): string {
  const query = qualifier === undefined ? '' : `?qualifier=${escaped(qualifier)}`
  return `/runtimes/${escaped(agentRuntimeArn)}/invocations${query}`
}

/** Escapes all bytes except unreserved characters (RFC 3986, 2.3), as the libraries of the vendor do. */
function escaped(text: string): string {
  let out = ''
  for (const byte of new TextEncoder().encode(text)) {
    const character = String.fromCharCode(byte)
    out += /[-._~0-9A-Za-z]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}
