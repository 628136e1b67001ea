import { spawn } from 'node:child_process'
import { once } from 'node:events'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: { readonly items?: readonly unknown[] }
  readonly result?: unknown
}

interface Place {
  /** From 0. */
  readonly line: number
  readonly character: number
}

/** What an editor underlines. */
export interface Diagnostic {
  readonly message: string
  readonly range: { readonly start: Place }
}

const OPTIONS = { yaml: { validate: true, hover: true, completion: true, schemaStore: { enable: false } } }

/** A client of a language server (Language Server Protocol 3.17, over standard input and output), as an editor is one. */
export class LanguageServer {
  readonly #child: ReturnType<typeof spawn>
  readonly #answers = new Map<number, (result: unknown) => void>()
  readonly #diagnostics = new Map<string, (found: readonly Diagnostic[]) => void>()
  #received: Buffer<ArrayBufferLike> = Buffer.alloc(0)
  #lastId = 0

  /** @param program a script for Node */
  constructor(program: string) {
    this.#child = spawn(process.execPath, [program, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdout!.on('data', (bytes: Buffer) => this.#receive(bytes))
  }

  async initialize(rootUri: string): Promise<void> {
    await this.request('initialize', {
      processId: process.pid,
      rootUri,
      capabilities: {
        workspace: { configuration: true },
        textDocument: { publishDiagnostics: {}, completion: {}, hover: {} },
      },
    })
    this.#send({ method: 'initialized', params: {} })
    this.#send({ method: 'workspace/didChangeConfiguration', params: { settings: OPTIONS } })
  }

  /** Opens a document. @returns what is wrong with it */
  open(uri: string, text: string): Promise<readonly Diagnostic[]> {
    const found = new Promise<readonly Diagnostic[]>((resolve) => this.#diagnostics.set(uri, resolve))
    this.#send({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'yaml', version: 1, text } },
    })
    return found
  }

  request(method: string, params: object): Promise<unknown> {
    const id = ++this.#lastId
    const answer = new Promise((resolve) => this.#answers.set(id, resolve))
    this.#send({ id, method, params })
    return answer
  }

  async close(): Promise<void> {
    const ended = once(this.#child, 'close')
    this.#child.kill()
    await ended
  }

  #send(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
    this.#child.stdin!.write(`Content-Length: ${body.length}\r\n\r\n`)
    this.#child.stdin!.write(body)
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/Content-Length: (\d+)/i.exec(this.#received.subarray(0, end).toString())![1])
      const body = this.#received.subarray(end + 4, end + 4 + length)
      if (body.length < length) return
      this.#received = this.#received.subarray(end + 4 + length)
      this.#handle(JSON.parse(body.toString()) as Message)
    }
  }

  #handle({ id, method, params, result }: Message): void {
    if (method === undefined) this.#answers.get(id as number)?.(result)
    else if (method === 'textDocument/publishDiagnostics') {
      const { uri, diagnostics } = params as { uri: string; diagnostics: readonly Diagnostic[] }
      this.#diagnostics.get(uri)?.(diagnostics)
    } else if (id !== undefined) {
      const isConfiguration = method === 'workspace/configuration'
      this.#send({ id, result: isConfiguration ? params!.items!.map((item) => this.#option(item)) : null })
    }
  }

  #option(item: unknown): unknown {
    return (OPTIONS as Record<string, unknown>)[(item as { section?: string }).section ?? ''] ?? null
  }
}
