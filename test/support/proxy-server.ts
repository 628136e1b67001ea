import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Socket } from 'node:net'

/** A request as a proxy server got it. */
export interface ProxiedRequest {
  readonly method: string
  readonly target: string
  readonly host: string | undefined
  readonly credential: string | undefined
}

/** A proxy server that writes down its requests. */
export interface ProxyServer extends AsyncDisposable {
  readonly port: number
  readonly seen: ProxiedRequest[]
}

export interface ProxyServerOptions {
  readonly tls?: { readonly cert: string; readonly key: string }
  /** The ports at 127.0.0.1 that names have. Other names get 502. */
  readonly names: Readonly<Record<string, number>>
  /** `Proxy-Authorization` without which requests get 407. */
  readonly credential?: string
  /** What is done instead of answering CONNECT to these names; the connection stays open unless it is closed here. */
  readonly faults?: Readonly<Record<string, (client: Socket) => void>>
}

/** Starts a forward proxy: CONNECT, and requests in absolute form. */
export async function startProxyServer({
  tls,
  names,
  credential,
  faults = {},
}: ProxyServerOptions): Promise<ProxyServer> {
  const seen: ProxiedRequest[] = []
  const sockets = new Set<Socket>()
  const note = ({ method, url, headers }: http.IncomingMessage) => {
    const { host, 'proxy-authorization': given } = headers
    seen.push({ method: method!, target: url!, host, credential: given })
    return credential === undefined || given === credential
  }
  const server = tls === undefined ? http.createServer() : https.createServer(tls)
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
    if (!note(request)) return response.writeHead(407, { 'proxy-authenticate': 'Basic realm="proxy"' }).end()
    const { hostname, pathname, search } = new URL(request.url!)
    const port = names[hostname]
    if (port === undefined) return response.writeHead(502).end()
    const { 'proxy-authorization': _, ...headers } = request.headers
    const options = { host: '127.0.0.1', port, method: request.method!, path: pathname + search, headers }
    const onward = http.request(options, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    return request.pipe(onward)
  })
  server.on('connect', (request: http.IncomingMessage, client: Socket) => {
    client.on('error', () => {})
    const isKnown = note(request)
    const name = request.url!.slice(0, request.url!.lastIndexOf(':'))
    if (faults[name] !== undefined) return faults[name](client)
    if (!isKnown) return client.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
    const port = names[name]
    if (port === undefined) return client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    const onward = net.connect({ host: '127.0.0.1', port, noDelay: true })
    sockets.add(onward)
    onward.on('error', () => client.destroy())
    // The first bytes of a server come in one piece with the answer.
    onward.once('connect', () => {
      setTimeout(() => {
        const first: Buffer | null = onward.read()
        client.write(
          Buffer.concat([Buffer.from('HTTP/1.1 200 Connection established\r\n\r\n'), first ?? Buffer.alloc(0)]),
        )
        onward.pipe(client)
        client.pipe(onward)
      }, 20)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
