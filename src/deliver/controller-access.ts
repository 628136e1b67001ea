import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Destination } from '#net/destination.ts'

/** Where a controller is, and how a proxy gets access to it. */
export interface ControllerAddress {
  /** URL with scheme https or http; of its path, nothing is used. */
  readonly url: string
  /** Path of a file with the certificate authorities of the server in PEM; undefined: those of the system. */
  readonly caFile?: string
  /** Path of a file with the token that is sent; undefined: none is. */
  readonly tokenFile?: string
}

/** An open way to a controller. It is a secret. */
export interface ControllerAccess {
  readonly destination: Destination
  readonly authority: string
  readonly authorization: string | undefined
}

/** The controller cannot be asked as configured. The message says what to do, and contains no credential. */
export class ControllerUnreachable extends Error {
  override readonly name = 'ControllerUnreachable'
}

const CONNECT_MS = 10_000
/** A controller that does not answer for a minute is gone. TCP does not notice that while it repeats what was not acknowledged. */
const KEEPALIVE = { timeMs: 30_000, intervalMs: 10_000, retries: 3 }
const PING_MS = 60_000

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/

/** @throws ControllerUnreachable */
function controllerUrl({ url: text, tokenFile }: ControllerAddress): URL {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new ControllerUnreachable(`the address of the controller, "${text}", is not a URL with scheme https or http`)
  if (url.protocol === 'http:' && tokenFile !== undefined && !LOOPBACK.test(url.hostname))
    throw new ControllerUnreachable(`${url.origin} is not HTTPS, so the token of ${tokenFile} is not sent; use https`)
  return url
}

/**
 * Reads the files, which may have changed since the last connection.
 * @throws ControllerUnreachable
 */
export async function openController(address: ControllerAddress): Promise<ControllerAccess> {
  const url = controllerUrl(address)
  const { caFile, tokenFile } = address
  const ca =
    url.protocol === 'https:' && caFile !== undefined
      ? await readText(caFile, 'the certificate authorities')
      : undefined
  const token = tokenFile === undefined ? undefined : (await readText(tokenFile, 'the token')).trim()
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new ControllerUnreachable(`${tokenFile} does not contain one token`)
  return accessTo(url, { ca, token })
}

interface Credentials {
  /** Certificate authorities of the server in PEM; undefined: those of the system. */
  readonly ca: string | undefined
  /** The name in its certificate; undefined: the host of the URL. */
  readonly serverName?: string
  readonly token: string | undefined
}

/** @param url with scheme https or http */
export function accessTo(url: URL, { ca, serverName, token }: Credentials): ControllerAccess {
  const isSecure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const tls = {
    ...{ serverName: serverName ?? host, ca, cert: undefined, key: undefined },
    ...({ verify: 'full', alpn: ['h2'] } as const),
  }
  return {
    authority: url.host,
    authorization: token === undefined ? undefined : `Bearer ${token}`,
    destination: {
      key: `controller ${url.origin} ${createHash('sha256')
        .update(ca ?? '')
        .digest('hex')}`,
      host,
      port: Number(url.port || (isSecure ? 443 : 80)),
      http: 'http2',
      connectTimeoutMs: CONNECT_MS,
      keepalive: KEEPALIVE,
      pingMs: PING_MS,
      ...(isSecure && { tls }),
    },
  }
}

async function readText(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new ControllerUnreachable(`${what} in ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}
