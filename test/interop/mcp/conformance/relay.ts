import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'

export interface RelayOptions {
  /** Where requests go. */
  readonly port: number
  /** The target whose items are meant. */
  readonly target?: string
  /** Gets every line of requests and answers. */
  readonly note?: (line: string) => void
}

export interface Relay extends AsyncDisposable {
  readonly port: number
}

/**
 * Starts a relay in front of the gateway. The suite asks for items by fixed names. Behind a backend of several targets, names begin with the
 * target's, and a client would use the names of lists: the relay adds the name of `target` to requests and removes it from answers.
 * Everything else passes as it is, Host and Origin included.
 */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const server = createServer((incoming, outgoing) => {
    relay(options, incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await promisify(server.close.bind(server))()
    },
  }
}

let exchanges = 0

async function relay(options: RelayOptions, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { port, target, note } = options
  const tag = `#${++exchanges}`
  const received = Buffer.concat(await Array.fromAsync<Buffer>(incoming)).toString()
  const body = target === undefined ? received : prefixed(received, target)
  const headers = forwardedHeaders(incoming.rawHeaders, target, received)
  if (body !== '') headers.push('content-length', String(Buffer.byteLength(body)))
  note?.(`${tag} > ${incoming.method} ${noted(incoming.rawHeaders)} ${received}`)

  const { method, url: path } = incoming
  const upstream = request({ host: '127.0.0.1', port, method, path, headers, setHost: false })
  outgoing.once('close', () => upstream.destroy())
  upstream.once('error', () => outgoing.destroy())
  upstream.end(body)
  upstream.once('response', (response) => {
    note?.(`${tag} < ${response.statusCode} ${noted(response.rawHeaders)}`)
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
    const kept = target === undefined || isStream ? response.rawHeaders : without(response.rawHeaders, 'content-length')
    outgoing.writeHead(response.statusCode!, kept)
    outgoing.flushHeaders()
    let rest = ''
    const pass = (line: string) => {
      if (line.trim() !== '') note?.(`${tag} < ${line.trimEnd()}`)
      outgoing.write(target === undefined ? line : unprefixed(line, target))
    }
    response.setEncoding('utf8')
    response.on('data', (piece: string) => {
      const lines = `${rest}${piece}`.split(/(?<=\n)/)
      rest = lines.at(-1)!.endsWith('\n') ? '' : lines.pop()!
      for (const line of lines) pass(line)
    })
    response.once('end', () => {
      if (rest !== '') pass(rest)
      note?.(`${tag} < end`)
      outgoing.end()
    })
    response.once('error', () => {
      note?.(`${tag} < broken`)
      outgoing.destroy()
    })
  })
}

/** The body with the names of items as a client of several targets writes them; what is no request for an item stays as it is. */
function prefixed(body: string, target: string): string {
  const message = parsed(body)
  const item = message?.params
  if (message === undefined || item === undefined) return body
  const { method } = message
  if (method === 'tools/call' || method === 'prompts/get') rename(item, 'name', `${target}_`)
  if (method?.startsWith('resources/')) rename(item, 'uri', `${target}+`)
  if (method === 'completion/complete' && item.ref !== undefined) {
    rename(item.ref, 'name', `${target}_`)
    rename(item.ref, 'uri', `${target}+`)
  }
  return JSON.stringify(message)
}

interface Parsed {
  readonly method?: string
  readonly params?: Record<string, unknown> & { readonly ref?: Record<string, unknown> }
}

function parsed(body: string): Parsed | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

function rename(item: Record<string, unknown>, member: string, prefix: string): void {
  if (typeof item[member] === 'string') item[member] = `${prefix}${item[member]}`
}

/** The line of an answer without the target's name in front of names and URIs. It is not parsed, so that everything else stays as it is. */
function unprefixed(line: string, target: string): string {
  return line.replaceAll(new RegExp(`("(?:name|uri|uriTemplate)":\\s*")${target}[_+]`, 'g'), '$1')
}

function forwardedHeaders(raw: readonly string[], target: string | undefined, body: string): string[] {
  const kept = without(raw, 'content-length', 'transfer-encoding', 'connection')
  if (target === undefined) return kept
  const method = parsed(body)?.method
  const prefix = method?.startsWith('resources/') ? `${target}+` : `${target}_`
  if (method === undefined || method.startsWith('tasks/')) return kept
  return kept.map((value, i) =>
    i % 2 === 1 && kept[i - 1]!.toLowerCase() === 'mcp-name' ? named(value, prefix) : value,
  )
}

/** A header value is the name, or its UTF-8 bytes in base64. */
function named(value: string, prefix: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value.trim())?.[1]
  if (encoded === undefined) return value.trim() === '' ? value : value.replace(/^\s*/, `$&${prefix}`)
  return `=?base64?${Buffer.from(`${prefix}${Buffer.from(encoded, 'base64')}`).toString('base64')}?=`
}

function without(raw: readonly string[], ...names: readonly string[]): string[] {
  return raw.filter((_, i) => !names.includes(raw[i - (i % 2)]!.toLowerCase()))
}

function noted(raw: readonly string[]): string {
  const fields: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    if (NOTED.test(raw[i]!)) fields.push(`${raw[i]!.toLowerCase()}: ${raw[i + 1]!.slice(0, 60)}`)
  }
  return `{${fields.join('; ')}}`
}

const NOTED = /^(mcp-.*|last-event-id|content-type|host|origin)$/i
