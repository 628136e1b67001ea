import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PROGRAM, projectFile } from '#instance/project-file.ts'
import { startUpstreams, type Upstreams } from './upstreams/run.ts'
import { type RunningGateway, waitForNote, waitForReadiness } from './wait-for-note.ts'

export { runOne } from './upstreams/run-one.ts'

/** A machine with other work may need minutes. */
const READY_WITHIN_MS = 600_000
/** How often a user who waits is told what for. */
const TELL_EVERY_MS = 10_000
const PARENT_CHECK_MS = 200
const OBJECTS = shortPath(fileURLToPath(projectFile('examples/quickstart')))
const SCRIPT = fileURLToPath(projectFile('bin/main.js'))

const CHAT = JSON.stringify({ model: 'fast', stream: true, messages: [{ role: 'user', content: 'good morning' }] })

const TOKEN =
  'curl -s http://localhost:9141/realms/quickstart/protocol/openid-connect/token -d grant_type=password -d client_id=quickstart -d username=alice -d password=alice | sed \'s/.*"access_token":"\\([^"]*\\)".*/\\1/\''

const WHAT_TO_TRY = `
Commands to paste into another terminal:

HTTP: an echo server returns the request that it received:
  curl http://localhost:8080/hello

LLM: a streamed chat; the model "fast" is an alias:
  curl -N http://localhost:8080/v1/chat/completions -H 'content-type: application/json' -d '${CHAT}'

MCP: the tools of two servers in one session:
  ${PROGRAM} mcp doctor http://localhost:8080/mcp

A2A: an agent card with the address of the gateway:
  curl http://localhost:8080/a2a/.well-known/agent-card.json

Tokens: alice gets one from the identity provider, and the backend sees who asks:
  curl http://localhost:8080/members -H "Authorization: Bearer $(${TOKEN})"

The same in a browser; sign in as alice, password alice:
  http://localhost:9141/realms/quickstart/account

Explain which objects decide about a request, without sending it:
  ${PROGRAM} explain -f ${quoted(OBJECTS)} http://localhost:8080/levels/deep

Details: ${join(OBJECTS, 'README.md')}
`

interface Started extends RunningGateway {
  /** Folder of its state. */
  readonly state: string
  readonly isQuickstart: boolean
}

/**
 * `gatewright quickstart`, which is also `npm start`: the example servers, a gateway before them, and what to try.
 *
 * @param paths of other objects than those of the quick start
 * @returns the exit code
 */
export async function startQuickstart(paths: readonly string[]): Promise<number> {
  try {
    return await start(paths)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}

async function start(paths: readonly string[]): Promise<number> {
  const upstreams = await startUpstreams()
  const state = mkdtempSync(join(tmpdir(), 'gatewright-'))
  process.once('exit', () => rmSync(state, { recursive: true, force: true }))
  const gateway = startGateway(paths, state)
  let isStopping = false
  const exit = exitCodeOf(gateway, () => isStopping)
  const stop = (signal: NodeJS.Signals) => {
    if (signal !== 'SIGHUP') isStopping = true
    gateway.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  whenShellEnds(() => stop('SIGTERM'))

  const gone = new AbortController()
  exit.then(() => gone.abort())
  const running = await waitUntilReady(state, gone.signal)
  const isLate = running === undefined && !gone.signal.aborted
  if (running !== undefined) console.log(describe(upstreams, { ...running, state, isQuickstart: paths.length === 0 }))
  if (isLate) {
    console.error(`the gateway was not ready after ${READY_WITHIN_MS / 60_000} minutes; stopping it`)
    gateway.kill('SIGTERM')
  }

  const code = await exit
  await upstreams.close()
  return isLate && code === 0 ? 1 : code
}

/** @returns undefined if the gateway has ended, or takes too long */
async function waitUntilReady(state: string, gone: AbortSignal): Promise<RunningGateway | undefined> {
  const from = performance.now()
  let running: RunningGateway | undefined
  for (;;) {
    running ??= await waitForNote(state, gone, TELL_EVERY_MS)
    const reason = running && (await waitForReadiness(running, gone, TELL_EVERY_MS))
    if (gone.aborted) return undefined
    if (running !== undefined && reason === undefined) return running
    const waitedMs = performance.now() - from
    if (waitedMs >= READY_WITHIN_MS) return undefined
    const what = reason ?? 'it is still loading its code and objects'
    console.error(`waiting for the gateway for ${(waitedMs / 1000).toFixed(0)} s: ${what}`)
  }
}

/** npm passes signals to the shell that runs its script, and the shell may end without passing them on. */
function whenShellEnds(stop: () => void): void {
  if (process.env.npm_lifecycle_event !== 'start') return
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    stop()
  }, PARENT_CHECK_MS)
  timer.unref()
}

function startGateway(paths: readonly string[], state: string): ChildProcess {
  // npm starts a script of the checkout in its root, whatever folder the user is in.
  const from = process.env.npm_package_name === 'gatewright' ? (process.env.INIT_CWD ?? '.') : '.'
  const objects = paths.length === 0 ? [OBJECTS] : paths.map((path) => resolve(from, path))
  // With the runtime of this process, and its options.
  const gateway = spawn(process.execPath, [...process.execArgv, SCRIPT, 'run', ...objects, '--state', state], {
    stdio: ['ignore', 'inherit', 'inherit'],
    // A group of its own: Ctrl-C reaches it once, from here. The terminal would send it a second one, and a second one
    // means "do not wait for requests in flight".
    detached: true,
  })
  process.once('exit', () => gateway.kill('SIGKILL'))
  return gateway
}

/**
 * The exit code; 128 and the number of the signal when one ended it; 1 when it could not be started.
 *
 * @param isStopping whether it was asked to stop, so its end is no news. It ends with 1 when it was asked twice
 */
async function exitCodeOf(gateway: ChildProcess, isStopping: () => boolean): Promise<number> {
  try {
    const [code, signal] = (await once(gateway, 'exit')) as [number | null, NodeJS.Signals | null]
    if (isStopping()) return signal === null ? 0 : 128 + constants.signals[signal]
    if (code !== 0) console.error(`the gateway ended with ${signal ?? `code ${code}`}`)
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  } catch (error) {
    console.error(`the gateway cannot be started: ${error instanceof Error ? error.message : error}`)
    return 1
  }
}

function describe(upstreams: Upstreams, { admin, api, metricsPort, state, isQuickstart }: Started): string {
  const rows = (list: readonly (readonly [name: string, address: string | undefined])[]) =>
    list
      .flatMap(([name, address]) => (address === undefined ? [] : [`  ${name.padEnd(NAME_WIDTH)}${address}\n`]))
      .join('')
  const kubectl = `  kubectl --kubeconfig ${quoted(join(state, 'kubeconfig'))} get httproutes\n`
  return `
Gatewright is ready. Ctrl-C stops everything.

${rows([
  ['gateway', isQuickstart ? 'http://localhost:8080' : undefined],
  ['admin', admin],
  ['metrics', `http://127.0.0.1:${metricsPort}/metrics`],
  ['Kubernetes API', api],
])}
Behind it:

${rows(upstreams.list.map(({ kind, name, url }) => [`${kind} server ${name}`, url]))}${isQuickstart ? WHAT_TO_TRY : ''}${api === undefined ? '' : `\nObjects, statuses included:\n${kubectl}`}`
}

const NAME_WIDTH = 24

/** Relative to the working directory, unless that is far from it. */
function shortPath(path: string): string {
  const short = relative('.', path)
  return short.startsWith(join('..', '..')) ? path : short
}

/** For a shell. */
function quoted(path: string): string {
  return path.includes(' ') ? `'${path}'` : path
}
