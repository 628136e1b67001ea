import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  environmentOf,
  type GatewayOptions,
  type GatewayPorts,
  portsIn,
  runWords,
  type TestGateway,
  urlOf,
} from './gateway-options.ts'
import { WAIT_LIMIT_MS } from './time-limits.ts'

const ROOT = join(import.meta.dirname, '..', '..')

export interface GatewayProcessOptions extends GatewayOptions {
  /** Working directory; default: the root of the project. */
  readonly folder?: string
}

/** A gateway in a separate process, started by its command line, with admin, metrics and readiness servers on free ports. */
export interface GatewayProcess extends TestGateway {
  readonly process: ChildProcess
}

/**
 * Starts a gateway and waits until it logs that it is ready; SIGTERM stops it. Rejects with its output if it ends first. For what a process shows:
 * signals, memory, variables of the environment, and more connections than a thread should share with its clients.
 */
export async function startGatewayProcess(options: GatewayProcessOptions): Promise<GatewayProcess> {
  const temporary =
    (options.stateFolder ?? options.folder) === undefined ? mkdtempSync(join(tmpdir(), 'gatewright-test-')) : undefined
  const words = runWords(options, options.stateFolder ?? temporary)
  const child = spawn(join(ROOT, 'bin', 'gatewright'), words, {
    cwd: options.folder ?? ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(options),
  })
  if (temporary !== undefined) child.once('exit', () => rmSync(temporary, { recursive: true, force: true }))
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk
  })
  // Output may arrive after the exit.
  const closed = once(child, 'close')
  const ports = await readPorts(child, output)
  const close = async (): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    await closed
    return child.exitCode
  }
  return {
    url: (port) => urlOf(port, ports),
    output,
    process: child,
    close,
    async [Symbol.asyncDispose]() {
      await close()
    },
  }
}

function readPorts(child: ChildProcess, output: { readonly stderr: string }): Promise<GatewayPorts> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const ports = portsIn(output.stderr)
      if (ports === undefined) return
      stop()
      resolve(ports)
    }
    const fail = (why: string) => {
      stop()
      child.kill('SIGKILL')
      reject(new Error(`the gateway ${why}:\n${output.stderr}`))
    }
    const ended = (code: number | null) => fail(`ended with code ${code}`)
    const timer = setTimeout(() => fail('did not become ready'), WAIT_LIMIT_MS)
    const stop = () => {
      clearTimeout(timer)
      child.off('exit', ended)
      child.stderr?.off('data', look)
    }
    child.on('exit', ended)
    child.stderr?.on('data', look)
  })
}
