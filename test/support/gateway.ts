import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '#cli/program.ts'
import type { Surroundings } from '#cli/surroundings.ts'
import { environmentOf, type GatewayOptions, portsIn, runWords, type TestGateway, urlOf } from './gateway-options.ts'
import { startWorkerHere } from './worker-here.ts'

export type { TestGateway } from './gateway-options.ts'

export interface ThreadGateway extends TestGateway {
  /** Reads the files again, as SIGHUP does. */
  reload(): void
}

/**
 * Starts a gateway in this thread and waits until it logs that it is ready. Rejects with its log if it ends first. Its command line, its
 * messages to workers and its sockets are those of a process, but its code is loaded already: a process takes half a second of processor
 * time to start. What only a process shows needs `startGatewayProcess`.
 */
export async function startGateway(options: GatewayOptions): Promise<ThreadGateway> {
  const temporary = mkdtempSync(join(tmpdir(), 'gatewright-test-'))
  const accessLog = join(temporary, 'stdout')
  const descriptor = openSync(accessLog, 'a')
  const environment = environmentOf(options)
  const stopped = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  let reload = () => {}
  /** The access log of a gateway that has ended. */
  let written: string | undefined
  const output = {
    get stdout() {
      return written ?? readFileSync(accessLog, 'utf8')
    },
    stderr: '',
  }
  const standardOutput = { descriptor, isPipe: false, follow: () => false, reopen: () => {}, close: () => {} }
  const around: Surroundings = {
    environment,
    openLog: () => (text) => {
      output.stderr += text
      if (portsIn(output.stderr) !== undefined) ready.resolve()
      return true
    },
    handleSignals: () => ({
      stopped: stopped.promise,
      stop: stopped.resolve,
      onReload: (run) => {
        reload = run
      },
    }),
    catchWarnings: () => {},
    releaseMemoryOfStart: () => ({ cancel: () => {} }),
    startThread: (start) => startWorkerHere(start, { environment, standardOutput, lineWaitMs: 2 }),
  }
  const run = async () => {
    try {
      return await runCommandLine(runWords(options, options.stateFolder ?? join(temporary, 'state')), around)
    } finally {
      written = readFileSync(accessLog, 'utf8')
      closeSync(descriptor)
      rmSync(temporary, { recursive: true, force: true })
    }
  }
  const ended = run()
  const close = async (): Promise<number> => {
    stopped.resolve()
    return await ended
  }
  const running = await Promise.race([ready.promise.then(() => true), ended.then(() => false)])
  if (!running) throw new Error(`the gateway ended with code ${await ended}:\n${output.stderr}`)
  const ports = portsIn(output.stderr)!
  return {
    url: (port) => urlOf(port, ports),
    output,
    close,
    reload: () => reload(),
    async [Symbol.asyncDispose]() {
      await close()
    },
  }
}
