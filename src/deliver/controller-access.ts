import { readFile } from 'node:fs/promises'
import { isLoopbackHost } from '#base/loopback-host.ts'
import { type GrpcAccess, grpcAccess } from '#net/grpc/grpc-access.ts'

/** Where a controller is, and how a proxy gets access to it. */
export interface ControllerAddress {
  /** URL with scheme https or http; of its path, nothing is used. */
  readonly url: string
  /** Path of a file with the certificate authorities of the server in PEM; undefined: those of the system. */
  readonly caFile?: string
  /** Path of a file with the token that is sent; undefined: none is. */
  readonly tokenFile?: string
}

/** The controller cannot be asked as configured. The message says what to do, and contains no credential. */
export class ControllerUnreachable extends Error {
  override readonly name = 'ControllerUnreachable'
}

/** @throws ControllerUnreachable */
function controllerUrl({ url: text, tokenFile }: ControllerAddress): URL {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new ControllerUnreachable(`the address of the controller, "${text}", is not a URL with scheme https or http`)
  if (url.protocol === 'http:' && tokenFile !== undefined && !isLoopbackHost(url.hostname))
    throw new ControllerUnreachable(`${url.origin} is not HTTPS, so the token of ${tokenFile} is not sent; use https`)
  return url
}

/**
 * Reads the files, which may have changed since the last connection.
 * @throws ControllerUnreachable
 */
export async function openController(address: ControllerAddress): Promise<GrpcAccess> {
  const url = controllerUrl(address)
  const { caFile, tokenFile } = address
  const ca =
    url.protocol === 'https:' && caFile !== undefined
      ? await readText(caFile, 'the certificate authorities')
      : undefined
  const token = tokenFile === undefined ? undefined : (await readText(tokenFile, 'the token')).trim()
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new ControllerUnreachable(`${tokenFile} does not contain one token`)
  return grpcAccess(url, { ca, token })
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new ControllerUnreachable(`${what} in ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
