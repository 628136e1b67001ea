import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import net from 'node:net'
import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Predecessor } from '#instance/options.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import { type Answer, type FromSuccessor, type NewProgram, PREDECESSOR, type ToSuccessor } from './messages.ts'

/** What a gateway does for a process that replaces it. */
export interface Replaceable {
  sockets(): Promise<Sockets>
  readonly isReady: boolean
  /** Seals MCP session ids, which clients have. */
  readonly sessionKey: Uint8Array
  /** The other process starts with the state folder as it is now. */
  lendState(): void
  /** It has failed. */
  takeStateBack(): void
  /** It serves. Nothing remains but open connections. */
  handOver(): void
}

type Sockets = Pick<Predecessor, 'traffic' | 'operators'>

/** Time for the new process until it serves. Tests shorten it. */
export const startLimit: { ms: number } = { ms: 60_000 }

/** Longer than any environment. */
const MAX_REQUEST = 16 * 1024 * 1024

/**
 * The Unix socket on which a command asks a gateway to be replaced. The gateway starts the new process itself, because only a child can inherit its
 * sockets (docs/decisions/0319-replaced-processes.md). Who can connect is the affair of the permissions of the socket: its owner alone.
 */
export class ReplaceSocket {
  readonly #gateway: Replaceable
  readonly #environment: NodeJS.ProcessEnv
  readonly #message: LogMessage
  readonly #server = net.createServer({ allowHalfOpen: true }, (connection) => this.#accepted(connection))
  /** A process is about to replace this one. */
  #isBusy = false
  #isClosed = false
  #child: ChildProcess | undefined

  /** @param path of the socket; one that is there is of a gateway that was killed, because this one has the state folder */
  constructor(path: string, gateway: Replaceable, environment: NodeJS.ProcessEnv, message: LogMessage) {
    this.#gateway = gateway
    this.#environment = environment
    this.#message = message
    const fail = (error: Error) =>
      message('instance', 'warn', 'gatewright run --replace cannot reach this gateway', { cause: error.message })
    this.#server.on('error', fail)
    rmSync(path, { force: true })
    // The socket is there when the call returns; its folder belongs to the owner alone.
    this.#server.listen(path)
    if (existsSync(path)) chmodSync(path, 0o600)
  }

  /** Ends a process that does not serve yet. */
  close(): void {
    this.#isClosed = true
    if (this.#server.listening) this.#server.close()
    this.#child?.kill('SIGKILL')
  }

  #accepted(connection: net.Socket): void {
    let text = ''
    connection.setEncoding('utf8')
    connection.on('error', () => connection.destroy())
    connection.on('data', (piece) => {
      text += piece
      if (text.length > MAX_REQUEST) connection.destroy()
      if (!text.endsWith('\n')) return
      connection.pause()
      this.#answer(text).then((answer) => connection.end(`${JSON.stringify(answer)}\n`))
    })
  }

  async #answer(text: string): Promise<Answer> {
    const program = readProgram(text)
    if (program === undefined) return failed('the running gateway does not understand the request')
    if (this.#isBusy) return failed('another process is about to replace the running gateway')
    this.#isBusy = true
    try {
      return await this.#start(program, await this.#gateway.sockets())
    } catch (error) {
      this.#isBusy = false
      return failed(error instanceof Error ? error.message : String(error))
    }
  }

  #start(program: NewProgram, sockets: Sockets): Promise<Answer> {
    this.#gateway.lendState()
    const child = this.#spawn(program, sockets)
    this.#child = child
    const { pid } = child
    const { promise, resolve } = Promise.withResolvers<Answer>()
    const fail = (cause: string) => {
      late.cancel()
      resolve(failed(cause))
    }
    const late = clock.after(startLimit.ms, () => {
      fail(`the new process was not ready after ${startLimit.ms / 1000} seconds`)
      child.kill('SIGKILL')
    })
    const ended = (cause: string) => {
      fail(cause)
      this.#ended()
    }
    child.on('error', (error) => pid === undefined && ended(error.message))
    child.on('exit', (code, signal) =>
      ended(
        `the new process ended with ${signal ?? `code ${code}`}; its messages are in the log of the running gateway`,
      ),
    )
    child.on('message', (message: FromSuccessor) => {
      if (message.kind === 'failed') return fail(message.cause)
      late.cancel()
      this.#child = undefined
      this.#server.close()
      this.#gateway.handOver()
      this.#message('instance', 'info', 'another process has taken the place of this one', { pid })
      tell(child, { kind: 'over' })
      child.removeAllListeners()
      child.on('error', () => {})
      child.on('disconnect', () => {
        child.unref()
        resolve({ kind: 'replaced', before: process.pid, now: pid! })
      })
    })
    const { traffic, operators } = sockets
    tell(child, {
      kind: 'start',
      traffic: traffic.map(({ socket }) => socket),
      operators: operators.map(({ socket }) => socket),
      isReady: this.#gateway.isReady,
      sessionKey: Buffer.from(this.#gateway.sessionKey).toString('hex'),
    })
    return promise
  }

  #spawn({ runtime, words, folder, environment }: NewProgram, { traffic, operators }: Sockets): ChildProcess {
    const { NOTIFY_SOCKET } = this.#environment
    const descriptors = [...traffic, ...operators].map(({ descriptor }) => descriptor)
    const child = spawn(runtime, words, {
      cwd: folder,
      // systemd listens to the service, wherever the command was called.
      env: { ...environment, NOTIFY_SOCKET, [PREDECESSOR]: String(process.pid) },
      stdio: ['inherit', 'inherit', 'inherit', 'ipc', ...descriptors],
      // It outlives this process and its terminal.
      detached: true,
    })
    this.#message('instance', 'info', 'a process starts that is to replace this one', { pid: child.pid })
    return child
  }

  #ended(): void {
    this.#isBusy = false
    this.#child = undefined
    if (this.#isClosed) return
    try {
      this.#gateway.takeStateBack()
      this.#message('instance', 'warn', 'this process was not replaced, and continues', {})
    } catch (error) {
      this.#message('instance', 'error', 'this process continues, but cannot use its state folder; restart it', {
        cause: (error as Error).message,
      })
    }
  }
}

/** What happens if a process that has ended cannot be told is decided by its end. */
function tell(child: ChildProcess, message: ToSuccessor): void {
  child.send(message, () => {})
}

function failed(cause: string): Answer {
  return { kind: 'failed', cause }
}

/** @returns undefined: it is no description of a program */
function readProgram(text: string): NewProgram | undefined {
  try {
    const { runtime, words, folder, environment } = parseJson(text) as NewProgram
    const texts = [runtime, folder, ...words, ...Object.values(environment)]
    return texts.every((one) => typeof one === 'string') ? { runtime, words, folder, environment } : undefined
  } catch {
    return undefined
  }
}
