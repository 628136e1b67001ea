import { targetAuthority } from '../connect/connect-request.ts'
import type { Destination, ProxyServer } from '../destination.ts'
import type { Failure, ReplayCause } from '../failure.ts'
import type { Head } from '../http/head.ts'
import type { ClientHandler, ClientStream } from '../stream.ts'

const DEFAULT_PORT = ':80'

/** A request as a proxy server gets it: the target with its authority, which `Host` repeats (RFC 9112, 3.2). */
export function absoluteForm(head: Head, destination: Destination, { authorization }: ProxyServer): Head {
  const place = targetAuthority(destination)
  const authority = destination.port === 80 ? place.slice(0, -DEFAULT_PORT.length) : place
  const sent = head.clone()
  sent.target = `http://${authority}${head.target === '*' ? '' : head.target}`
  sent.authority = authority
  if (authorization === undefined) sent.remove('proxy-authorization')
  else sent.set('proxy-authorization', authorization)
  return sent
}

const PROXY_AUTHENTICATION_REQUIRED = 407

const REFUSED: Failure = {
  code: 'tunnel-refused',
  detail: `the proxy server answered ${PROXY_AUTHENTICATION_REQUIRED}`,
  maybeProcessed: false,
}

/** Events of a request in absolute form. A proxy server that refuses the credential of the gateway is not the backend, and clients must not answer it. */
export class ForwardedHandler implements ClientHandler {
  readonly #handler: ClientHandler

  constructor(handler: ClientHandler) {
    this.#handler = handler
  }

  response(stream: ClientStream): void {
    if (stream.head.status !== PROXY_AUTHENTICATION_REQUIRED) return this.#handler.response(stream)
    stream.cancel()
    this.#handler.failed(stream, REFUSED)
  }

  informed(stream: ClientStream, head: Head): void {
    this.#handler.informed(stream, head)
  }

  trailed(stream: ClientStream, trailers: Head): void {
    this.#handler.trailed?.(stream, trailers)
  }

  upgraded(stream: ClientStream): void {
    this.#handler.upgraded(stream)
  }

  replayed(stream: ClientStream, cause: ReplayCause): void {
    this.#handler.replayed(stream, cause)
  }

  failed(stream: ClientStream, failure: Failure): void {
    this.#handler.failed(stream, failure)
  }
}
