import { DEFAULT_TRUST_DOMAIN, MESH_FILES, parseCaAddress } from '#api/mesh-settings.ts'
import { hostPort } from '#base/host-port.ts'
import type { MeshSource } from '#instance/proxy-mesh.ts'
import { type Environment, readVariable } from './environment.ts'
import { UsageError } from './usage-error.ts'

/**
 * Where a proxy gets its certificate of a service mesh. The files are where the pod of a Gateway has them.
 * @returns undefined: the proxy is in no mesh
 * @throws UsageError
 */
export function meshSource(environment: Environment): MeshSource | undefined {
  const address = parseCaAddress(readVariable(environment, 'CA_ADDRESS') ?? '')
  if (address === undefined) return undefined
  const namespace = readVariable(environment, 'NAMESPACE')
  const serviceAccount = readVariable(environment, 'SERVICE_ACCOUNT')
  if (namespace === undefined || serviceAccount === undefined)
    throw new UsageError('CA_ADDRESS is set, so NAMESPACE and SERVICE_ACCOUNT must be set, too')
  const { isSecure, host, port } = address
  const { roots, token } = MESH_FILES
  return {
    caUrl: new URL(`${isSecure ? 'https' : 'http'}://${hostPort(host, port)}`),
    trustDomain: readVariable(environment, 'TRUST_DOMAIN') ?? DEFAULT_TRUST_DOMAIN,
    workload: { namespace, serviceAccount },
    rootsFile: `${roots.folder}/${roots.name}`,
    tokenFile: `${token.folder}/${token.name}`,
  }
}
