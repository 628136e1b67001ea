import type { TransportSetting } from '#net/transport/choose-transports.ts'
import { UsageError } from './usage-error.ts'

const TRANSPORT = 'GATEWRIGHT_TRANSPORT'

/** The transport for connections without TLS, from the environment. */
export function transportSetting(environment: Readonly<Record<string, string | undefined>>): TransportSetting {
  const text = environment[TRANSPORT] || 'auto'
  if (text !== 'auto' && text !== 'streams') throw new UsageError(`${TRANSPORT} is ${text}; it must be auto or streams`)
  return text
}
