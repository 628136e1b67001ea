import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const READY_WITHIN_MS = 15_000

export interface GatewayOptions {
  /** Values of `-f`. */
  readonly files: readonly string[]
  readonly workers?: number
  /** Further command-line arguments. */
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Working directory; default: the root of the project. */
  readonly folder?: string
  /** What outlives a restart; by default nothing does. With `folder` there is the default one. */
  readonly stateFolder?: string
}

/** A gateway in a separate process, started by its command line, with admin, metrics and readiness servers on free ports. */
export interface TestGateway extends AsyncDisposable {
  /** Base URL of a listener port; 15000, 15020 and 15021 map to the actual ports of the admin, metrics and readiness servers. */
  url(port: number): string
  /** Its output so far. */
  readonly output: { readonly stdout: string; readonly stderr: string }
  readonly process: ChildProcess
  /** Stops it with SIGTERM. @returns its exit code */
  close(): Promise<number | null>
}

/** Starts a gateway and waits until it logs that it is ready. Rejects with its output if it ends first. */
export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const { files, workers = 2, environment = {} } = options
  const words = ['run', ...files.flatMap((file) => ['-f', file]), '--workers', String(workers)]
  const temporary =
    (options.stateFolder ?? options.folder) === undefined ? mkdtempSync(join(tmpdir(), 'gatewright-test-')) : undefined
  const state = options.stateFolder ?? temporary
  if (state !== undefined) words.push('--state', state)
  const child = spawn(join(ROOT, 'bin', 'gatewright'), [...words, ...(options.arguments ?? [])], {
    cwd: options.folder ?? ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      GATEWRIGHT_ADMIN_ADDR: '127.0.0.1:0',
      GATEWRIGHT_STATS_ADDR: '127.0.0.1:0',
      GATEWRIGHT_READINESS_ADDR: '127.0.0.1:0',
      ...environment,
    },
  })
  if (temporary !== undefined) child.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk
  })
  const ports = await readPorts(child, output)
  const close = async (): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
    const exit = once(child, 'exit')
    child.kill('SIGTERM')
    const [code] = (await exit) as [number | null]
    return code
  }
  return {
    url: (port) => `http://127.0.0.1:${ports.get(port) ?? port}`,
    output,
    process: child,
    close,
    async [Symbol.asyncDispose]() {
      await close()
    },
  }
}

/** The log line of a ready gateway, in both log formats. */
const READY =
  /"?admin"?[=:]"?http:\/\/127\.0\.0\.1:(\d+)"?[ ,]"?metrics\.port"?[=:](\d+)[ ,]"?readiness\.port"?[=:](\d+)/

function readPorts(child: ChildProcess, output: { readonly stderr: string }): Promise<Map<number, number>> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = READY.exec(output.stderr)
      if (found === null) return
      stop()
      resolve(
        new Map([
          [15_000, Number(found[1])],
          [15_020, Number(found[2])],
          [15_021, Number(found[3])],
        ]),
      )
    }
    const fail = (why: string) => {
      stop()
      child.kill('SIGKILL')
      reject(new Error(`the gateway ${why}:\n${output.stderr}`))
    }
    const ended = (code: number | null) => fail(`ended with code ${code}`)
    const timer = setTimeout(() => fail('did not become ready'), READY_WITHIN_MS)
    const stop = () => {
      clearTimeout(timer)
      child.off('exit', ended)
      child.stderr?.off('data', look)
    }
    child.on('exit', ended)
    child.stderr?.on('data', look)
  })
}
