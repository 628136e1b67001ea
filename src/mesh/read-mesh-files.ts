import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { MESH_FILES } from '#api/mesh-settings.ts'
import { clock } from '#base/clock.ts'
import { certificatesIn } from '#base/tls-material.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { MeshFailure } from './mesh-failure.ts'

/**
 * Reads the root certificates of the mesh.
 * @param namespace of the proxy, in which Istio keeps them
 * @returns PEM, nothing but certificates, at least one of which has not expired
 * @throws MeshFailure
 */
export async function readRoots(file: string, namespace: string): Promise<string> {
  const { configMap, name } = MESH_FILES.roots
  const source = `entry ${name} of ConfigMap ${configMap} in namespace ${namespace}`
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    if (code === 'ENOENT')
      throw new MeshFailure('roots', `there are no root certificates in ${file}: ${source} is missing`)
    throw new MeshFailure('roots', `the root certificates in ${file} cannot be read: ${code}`)
  })
  const fault = TLS_MATERIAL.authoritiesFault(text)
  if (fault !== undefined) throw new MeshFailure('roots', `${file} has no root certificates (${source}): ${fault}`)
  const roots = certificatesIn(text)
  const ends = roots.map((pem) => new X509Certificate(pem).validToDate.getTime())
  const last = Math.max(...ends)
  if (last <= clock.now())
    throw new MeshFailure(
      'roots',
      `the root certificates in ${file} (${source}) have expired, the last one at ${new Date(last).toISOString()}`,
    )
  return `${roots.join('\n')}\n`
}

/**
 * Reads the token for the CA, which the kubelet replaces.
 * @throws MeshFailure
 */
export async function readToken(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new MeshFailure('token', `the token for the CA in ${file} cannot be read: ${code}`)
  })
  const token = text.trim()
  if (!/^[!-~]+$/.test(token)) throw new MeshFailure('token', `${file} does not contain one token`)
  return token
}
