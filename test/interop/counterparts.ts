import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** Where the counterparts are installed and built. A second run finds them there. */
const FOLDER = join(tmpdir(), 'gatewright-interop')

/** A counterpart that cannot be had. */
export class MissingCounterpart extends Error {}

/** @returns the path of a program. @param debianPackage has it */
export function installedProgram(program: string, debianPackage: string): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
  if (found === undefined) {
    throw new MissingCounterpart(`${program} is not installed; install the Debian package ${debianPackage}`)
  }
  return found
}

/** Unpacks a Debian package, which need not be installed. @returns the path of its program */
export function debianProgram(debianPackage: string, path: string): string {
  const apt = installedProgram('apt-get', 'apt')
  const folder = folderOf(debianPackage)
  const program = join(folder, path)
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  run(debianPackage, apt, ['download', debianPackage], folder)
  const [archive] = readdirSync(folder).filter((name) => name.endsWith('.deb'))
  run(debianPackage, 'dpkg-deb', ['-x', archive!, '.'], folder)
  return program
}

/** Builds a program of a Go module in a folder. @returns its path @param source its package */
export function builtGoProgram(module: string, name: string, source = `./${name}`): string {
  return buildGo(module, name, ['build'], source)
}

/** Builds the tests of a Go module in a folder as a program. @returns its path */
export function builtGoTests(module: string, name: string): string {
  return buildGo(module, name, ['test', '-c'], '.')
}

function buildGo(module: string, name: string, words: readonly string[], source: string): string {
  const go = installedProgram('go', 'golang-go')
  const program = folderOf('bin', name)
  // The module may need a newer Go. Without C, the program runs in an image that has nothing else.
  const environment = { GOTOOLCHAIN: 'auto', CGO_ENABLED: '0' }
  run(name, go, [...words, '-o', program, source], module, environment)
  return program
}

/** Builds a program of a published Go module in the folder `name`. @returns its path */
export function installedGoProgram(name: string, packageAtVersion: string): string {
  const go = installedProgram('go', 'golang-go')
  const folder = folderOf(name)
  // `go install` leaves the major version out of the name of the program.
  const path = packageAtVersion.slice(0, packageAtVersion.indexOf('@')).replace(/\/v\d+$/, '')
  const program = join(folder, basename(path))
  if (!existsSync(program)) run(name, go, ['install', packageAtVersion], FOLDER, { GOBIN: folder })
  return program
}

/** Builds a program of a Rust package. @returns its path @param folder has its `Cargo.toml` and `Cargo.lock` */
export function builtRustProgram(folder: string, name: string): string {
  const cargo = installedProgram('cargo', 'cargo')
  const target = folderOf(`rust-${name}`)
  run(name, cargo, ['build', '--quiet', '--locked', '--target-dir', target], folder)
  return join(target, 'debug', name)
}

/** Installs npm packages with exact versions. @returns the folder in which code can import them */
export function installedNpmPackages(name: string, ...packages: readonly string[]): string {
  const folder = folderOf(name)
  if (packages.every((one) => existsSync(join(folder, 'node_modules', one.slice(0, one.lastIndexOf('@')))))) {
    return folder
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  run(name, 'npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--save-exact', ...packages], folder)
  return folder
}

/** Installs Python packages in an environment of their own. @returns its interpreter */
export function installedPythonPackages(name: string, ...packages: readonly string[]): string {
  const python = installedProgram('python3', 'python3-venv')
  const interpreter = folderOf(name, 'bin', 'python')
  const installed = folderOf(name, 'installed')
  if (existsSync(installed)) return interpreter
  run(name, python, ['-m', 'venv', folderOf(name)], FOLDER)
  run(name, interpreter, ['-m', 'pip', 'install', '--quiet', ...packages], FOLDER)
  writeFileSync(installed, packages.join('\n'))
  return interpreter
}

/** Fetches the dependencies of a Maven project. @returns a class path */
export function installedJars(name: string, pom: string): string {
  installedProgram('java', 'default-jdk')
  const maven = installedProgram('mvn', 'maven')
  const folder = folderOf(name)
  const options = [`-DoutputDirectory=${folder}`, '-f', pom]
  if (!existsSync(folder)) run(name, maven, ['-q', 'dependency:copy-dependencies', ...options], FOLDER)
  return join(folder, '*')
}

/** Fetches and unpacks an archive from a Maven repository. @returns the folder @param artifact `group:name:version:zip` */
export function installedArchive(name: string, artifact: string): string {
  const jar = installedProgram('jar', 'default-jdk')
  const folder = folderOf(name)
  if (existsSync(join(folder, 'unpacked'))) return folder
  mkdirSync(folder, { recursive: true })
  const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]
  run(name, installedProgram('mvn', 'maven'), ['-q', '-B', 'dependency:copy', ...options], folder)
  const archive = readdirSync(folder).find((file) => file.endsWith('.zip'))
  run(name, jar, ['xf', archive!], folder)
  writeFileSync(join(folder, 'unpacked'), artifact)
  return folder
}

/** Compiles Java files. @returns the class path of what was compiled */
export function compiledJava(name: string, jars: string, ...files: readonly string[]): string {
  const folder = folderOf(name)
  run(name, installedProgram('javac', 'default-jdk'), ['-nowarn', '-cp', jars, '-d', folder, ...files], FOLDER)
  return folder
}

function folderOf(...parts: readonly string[]): string {
  mkdirSync(FOLDER, { recursive: true })
  return join(FOLDER, ...parts)
}

function run(
  name: string,
  program: string,
  words: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): void {
  const options = { cwd, env: { ...process.env, ...environment }, encoding: 'utf8' } as const
  const { status, stderr, stdout } = spawnSync(program, words, options)
  if (status === 0) return
  const said = `${stderr ?? ''}${stdout ?? ''}`.trim().split('\n').slice(-5).join('\n     ')
  throw new MissingCounterpart(`${name} could not be installed: ${program} ${words.join(' ')}\n     ${said}`)
}

/** A counterpart that runs. */
export interface Running extends AsyncDisposable {
  readonly process: ChildProcess
  /** What it wrote to standard error. */
  readonly complaints: () => string
}

export interface StartOptions {
  readonly words?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Starts a server. Its standard output is dropped. */
export function startServer(program: string, { words = [], environment = {}, cwd = FOLDER }: StartOptions): Running {
  const child = spawn(program, words, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.resume()
  let complaints = ''
  child.stderr.on('data', (bytes: Buffer) => {
    complaints = `${complaints}${bytes}`.slice(-2000)
  })
  return {
    process: child,
    complaints: () => complaints,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      // SIGKILL would leave the workers of some servers behind.
      child.kill('SIGTERM')
      const impatience = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exit
      clearTimeout(impatience)
    },
  }
}

/** Starts a server that prints its port. */
export async function startPrintingServer(
  program: string,
  options: StartOptions,
): Promise<Running & { readonly port: number }> {
  const running = startServer(program, options)
  const lines = createInterface({ input: running.process.stdout! })
  const [first] = (await Promise.race([once(lines, 'line'), once(running.process, 'exit')])) as [unknown]
  if (typeof first !== 'string') throw new Error(`${program} ended at once`)
  return { ...running, port: Number(first) }
}

/** Runs a program that reads JSON and prints JSON. */
export function askProgram(program: string, words: readonly string[], question: unknown): unknown {
  const options = { input: JSON.stringify(question), encoding: 'utf8', maxBuffer: 2 ** 26 } as const
  const { status, stdout, stderr } = spawnSync(program, words, options)
  if (status !== 0) throw new Error(`${program} ${words.join(' ')} failed:\n${stderr}`)
  return JSON.parse(stdout)
}
