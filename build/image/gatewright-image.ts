import { execFileSync } from 'node:child_process'
import { existsSync, globSync, lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TarEntry } from '#cli/tar.ts'
import type { ImageConfig, ImageInput, Layer } from './oci-archive.ts'

const ROOT = join(import.meta.dirname, '..', '..')
/** Of the user in the image, as in the pods that a controller makes. */
const USER = 10_101

/** Where the program is in the image. */
const HOME = 'app'
const RUNTIME = 'usr/local/bin/node'
const STATE = 'var/lib/gatewright'

/** How containers start, here and in `install/image/Dockerfile`. */
export const CONFIG = {
  User: `${USER}:${USER}`,
  // As `bin/gatewright` starts it.
  Entrypoint: [`/${RUNTIME}`, '--disable-sigusr1', '--max-semi-space-size=4', `/${HOME}/dist/main.js`],
  Cmd: ['run', '--bind', '0.0.0.0', '--state', `/${STATE}`, '/etc/gatewright'],
  Env: ['PATH=/usr/local/bin', 'HOME=/tmp', 'MALLOC_ARENA_MAX=2', 'NODE_COMPILE_CACHE=/tmp/.compile-cache'],
  // State that is not named is below it, and the root may be read-only.
  WorkingDir: '/tmp',
} as const satisfies ImageConfig

/** `gatewright` for `kubectl exec`. `bin/gatewright` needs a shell. */
export const COMMAND: TarEntry = {
  path: 'usr/local/bin/gatewright',
  mode: 0o755,
  bytes: Buffer.from(`#!/${RUNTIME}\nimport('/${HOME}/dist/main.js')\n`),
}

/** Modules of the package with the vocabularies; it also has them in a second form, and as tables. */
const VOCABULARIES = 'node_modules/gpt-tokenizer/{package.json,LICENSE*,esm/**/*.js}'

/**
 * The image of the gateway, from the files of the package, the pinned runtime, the shared libraries of this machine that the runtime is linked with, and
 * the package that is loaded late. Nothing else is in it: no shell, and no package manager. Layers that change least come first.
 *
 * @throws Error if the bundle or the runtime is missing
 */
export function gatewrightImage(reference: string, { version, revision }: ImageVersion): ImageInput {
  const runtime = join(ROOT, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  if (!existsSync(runtime)) throw new Error(`${runtime} is missing; run npm ci on Linux`)
  if (!existsSync(join(ROOT, 'dist', 'main.js'))) throw new Error('dist/main.js is missing; run npm run build')
  return {
    reference,
    layers: [
      {
        name: 'system',
        entries: withFolders([...accounts(), ...sharedLibraries(runtime), ...writableFolders()]),
      },
      { name: 'runtime', entries: withFolders([{ path: RUNTIME, mode: 0o755, bytes: readFileSync(runtime) }]) },
      { name: 'packages', entries: withFolders(packages()) },
      { name: 'gatewright', entries: withFolders([...program(version), COMMAND]) },
    ],
    config: {
      ...CONFIG,
      Labels: {
        'org.opencontainers.image.title': 'Gatewright',
        'org.opencontainers.image.description':
          'A declarative, programmable proxy gateway for HTTP, LLM, MCP and A2A traffic',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
        ...(revision !== undefined && { 'org.opencontainers.image.revision': revision }),
      },
    },
  }
}

/** The files of all layers, for a `Dockerfile` to add. */
export function rootFileSystem(layers: readonly Layer[]): readonly TarEntry[] {
  return [...new Map(layers.flatMap(({ entries }) => entries.map((entry) => [entry.path, entry]))).values()]
}

export interface ImageVersion {
  readonly version: string
  /** Commit of the source. */
  readonly revision?: string | undefined
}

function accounts(): readonly TarEntry[] {
  const text = (path: string, lines: readonly string[]) => ({ path, bytes: Buffer.from(`${lines.join('\n')}\n`) })
  return [
    text('etc/passwd', [
      'root:x:0:0:root:/:/sbin/nologin',
      `gatewright:x:${USER}:${USER}:gatewright:/tmp:/sbin/nologin`,
    ]),
    text('etc/group', ['root:x:0:', `gatewright:x:${USER}:`]),
    // Names in /etc/hosts, which the platform writes, come before those of DNS.
    text('etc/nsswitch.conf', ['hosts: files dns']),
  ]
}

function writableFolders(): readonly TarEntry[] {
  return [
    { path: 'tmp', mode: 0o1777 },
    // An empty volume of Docker gets the owner of the folder that it covers.
    { path: STATE, mode: 0o700, owner: USER },
  ]
}

/** The libraries and the loader that the runtime is linked with, where the loader looks for them. */
function sharedLibraries(runtime: string): readonly TarEntry[] {
  const lines = execFileSync('ldd', [runtime], { encoding: 'utf8' })
  const paths = [...lines.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!)
  if (paths.length === 0) throw new Error(`${runtime} is linked with nothing; ldd says: ${lines}`)
  return paths.map((path) => ({ path: path.slice(1), mode: 0o755, bytes: readFileSync(realpathSync(path)) }))
}

/** What is loaded late, and depends on nothing. */
export function packages(): readonly TarEntry[] {
  return filesOf([VOCABULARIES])
}

/** What `npm pack` packs, without source maps. @param version that the program says; default: that of the package */
export function program(version?: string): readonly TarEntry[] {
  const own = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: readonly string[] }
  const described = {
    path: `${HOME}/package.json`,
    bytes: Buffer.from(JSON.stringify({ ...own, ...(version && { version }) })),
  }
  return [described, ...filesOf(['LICENSE', ...own.files]).filter(({ path }) => !path.endsWith('.map'))]
}

function filesOf(patterns: readonly string[]): readonly TarEntry[] {
  return globSync(patterns, { cwd: ROOT })
    .filter((path) => lstatSync(join(ROOT, path)).isFile())
    .map(inHome)
}

function inHome(path: string): TarEntry {
  return { path: `${HOME}/${path}`, bytes: readFileSync(join(ROOT, path)) }
}

/** Adds the folders above each entry, which some unpackers need. */
function withFolders(entries: readonly TarEntry[]): readonly TarEntry[] {
  const folders = new Set(entries.flatMap(({ path }) => foldersAbove(path)))
  for (const { path } of entries) folders.delete(path)
  return [...[...folders].map((path) => ({ path })), ...entries]
}

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === '.' ? [] : [...foldersAbove(folder), folder]
}
