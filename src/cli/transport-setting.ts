import type { TransportSetting } from '#net/transport/choose-transports.ts'
import { type Environment, oneOf } from './environment.ts'

const TRANSPORT = 'GATEWRIGHT_TRANSPORT'

/** The transport for connections without TLS, from the environment. */
export function transportSetting(environment: Environment): TransportSetting {
  return oneOf<TransportSetting>(['auto', 'streams'], [TRANSPORT, environment[TRANSPORT]]) ?? 'auto'
}
