import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copyWithPorts } from '#examples/quickstart/copy-with-ports.ts'
import { freePort } from '../support/free-port.ts'
import { type PackedFile, packageFaults, packageListing } from './package-faults.ts'

// `npm run try:package`: packs, installs from the archive alone in a folder outside of the checkout, and uses it as a new user would.

const ROOT = join(import.meta.dirname, '..', '..')
const ANSWERS_WITHIN_MS = 60_000
const POLL_MS = 10
/** Not the runtime of this checkout, and not its modules: those of the machine. */
const MACHINE_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)
const ANY_PORT = '127.0.0.1:0'
const ENVIRONMENT: NodeJS.ProcessEnv = {
  PATH: MACHINE_PATH,
  HOME: process.env.HOME,
  GATEWRIGHT_ADMIN_ADDR: ANY_PORT,
  GATEWRIGHT_STATS_ADDR: ANY_PORT,
  GATEWRIGHT_READINESS_ADDR: ANY_PORT,
  GATEWRIGHT_API_ADDR: ANY_PORT,
}

await using stops = new AsyncDisposableStack()
const base = mkdtempSync(join(tmpdir(), 'gatewright package '))
stops.defer(() => rmSync(base, { recursive: true, force: true }))

const archive = pack(base)
const project = join(base, 'a project')
mkdirSync(project)
writeFileSync(join(project, 'package.json'), '{}')
timed('npm install', () => call('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefer-offline', archive]))
const modules = join(project, 'node_modules')
expect(readdirSync(modules).filter((name) => !name.startsWith('.')).length, 3, 'packages that are installed')

const version = timed('npx gatewright version -v', () => gatewright('version', '-v'))
expect(/^code +bundle$/m.test(version) && version.includes(process.version), true, `bundle and runtime in:\n${version}`)

gatewright('init', 'http', 'gw')
const port = await freePort()
const file = join(project, 'gw', 'gateway.yaml')
writeFileSync(file, readFileSync(file, 'utf8').replace('port: 8080', `port: ${port}`))
timed('lint', () => gatewright('lint', 'gw'))
gatewright('fields', 'ProxyPolicy.spec.traffic.cors')
timed('explain', () => gatewright('explain', '-f', 'gw', `http://localhost:${port}/hello`))

for (const start of ['first', 'second']) {
  await using run = startGatewright('run', 'gw')
  const answer = await firstAnswer(
    `run, ${start} start, to the first answer`,
    `http://127.0.0.1:${port}/hello`,
    run.child,
  )
  expect(answer, 'hello from gatewright\n', 'the answer of the gateway')
}

const quickstartPort = await freePort()
const usual = [9101, 9102, 9111, 9112, 9121, 9122, 9131, 9141].map((used) => [used, used] as const)
const objects = await copyWithPorts(
  join(modules, 'gatewright', 'examples', 'quickstart'),
  new Map([...usual, [8080, quickstartPort]]),
)
stops.defer(objects.remove)
{
  await using run = startGatewright('quickstart', objects.folder)
  const url = `http://127.0.0.1:${quickstartPort}/hello`
  const answer = await firstAnswer('quickstart, to the first answer', url, run.child)
  expect((JSON.parse(answer) as { path: string }).path, '/hello', 'the path that the echo server received')
}

const prefix = join(base, 'for all')
const forAll = [
  'install',
  '--global',
  '--silent',
  '--prefix',
  prefix,
  '--no-audit',
  '--no-fund',
  '--prefer-offline',
  archive,
]
timed('npm install --global', () => call('npm', forAll))
expect(call(join(prefix, 'bin', 'gatewright'), ['version', '-v']), version, 'the version of a global installation')

/** @returns path of the archive */
function pack(folder: string): string {
  const text = execFileSync('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const [packed] = Object.values(JSON.parse(text.slice(text.search(/^[[{]/m))) as readonly Packed[])
  const { filename, size, unpackedSize, files } = packed!
  const sizes = [size, unpackedSize].map((bytes) => `${(bytes / 1e6).toFixed(2)} MB`)
  console.log(`packed ${sizes[0]}, unpacked ${sizes[1]}, ${files.length} files`)
  for (const line of packageListing(files)) console.log(`  ${line}`)
  expect(packageFaults(files, size).join('\n'), '', 'faults of the package')
  return resolve(folder, filename)
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
  readonly files: readonly PackedFile[]
}

function gatewright(...words: readonly string[]): string {
  return call('npx', ['--no-install', 'gatewright', ...words])
}

function call(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { cwd: project, encoding: 'utf8', env: ENVIRONMENT })
}

function timed<T>(what: string, work: () => T): T {
  const start = performance.now()
  const result = work()
  report(what, start)
  return result
}

function report(what: string, start: number): void {
  console.log(`${((performance.now() - start) / 1000).toFixed(2).padStart(6)} s  ${what}`)
}

/** A process that SIGTERM ends with exit code 0. */
function startGatewright(...words: readonly string[]): AsyncDisposable & { readonly child: ChildProcess } {
  const child = spawn(join(modules, '.bin', 'gatewright'), words, {
    cwd: project,
    env: ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exit = once(child, 'exit')
  return {
    child,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      const [code] = await exit
      expect(code, 0, `the exit code of gatewright ${words[0]}`)
    },
  }
}

/** Asks until there is an answer, and reports how long that took. */
async function firstAnswer(what: string, url: string, child: ChildProcess): Promise<string> {
  const start = performance.now()
  while (child.exitCode === null && performance.now() - start < ANSWERS_WITHIN_MS) {
    const response = await fetch(url).catch(() => undefined)
    if (response?.status === 200) {
      report(what, start)
      return response.text()
    }
    await response?.body?.cancel()
    await sleep(POLL_MS)
  }
  throw new Error(`${what}: none, exit code ${child.exitCode}`)
}

function expect<T>(found: T, wanted: T, what: string): void {
  if (found !== wanted) throw new Error(`${what}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(found)}`)
}
