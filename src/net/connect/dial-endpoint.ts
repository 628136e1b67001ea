import type { Destination } from '../destination.ts'
import { Dial, type DialContext, type Dialling } from './dial.ts'
import { MeshDial, type MeshDialOptions } from './mesh-dial.ts'

/** Opens a connection to a destination without a proxy server. */
export function dialEndpoint(destination: Destination, context: DialContext, options: MeshDialOptions): Dialling {
  const { tunnel } = destination
  return tunnel?.mode === 'mesh'
    ? new MeshDial(destination, tunnel, context, options)
    : new Dial(destination, context, options)
}
