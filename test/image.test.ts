import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type TarEntry, tar } from '#cli/tar.ts'
import { COMMAND, CONFIG, gatewrightImage, packages, program, rootFileSystem } from '../build/image/gatewright-image.ts'
import { ociArchive } from '../build/image/oci-archive.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const LONG = `${'folder/'.repeat(16)}file`

/** Unpacks an archive with the program of the machine. */
function unpack(archive: Uint8Array): string {
  const folder = temporaryFolder()
  execFileSync('tar', ['-xf', '-', '-C', folder], { input: archive })
  return folder
}

test('tar unpacks what was packed: files, folders, links, long paths', () => {
  const folder = unpack(
    tar([
      { path: 'b', target: 'a' },
      { path: 'a', bytes: Buffer.from('A'.repeat(1000)) },
      { path: 'folder' },
      { path: LONG, bytes: Buffer.from('deep') },
    ]),
  )
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('A'.repeat(1000))
  expect(readlinkSync(join(folder, 'b'))).toBe('a')
  expect(readFileSync(join(folder, LONG), 'utf8')).toBe('deep')
})

test('tar keeps owners', () => {
  const archive = tar([{ path: 'a', owner: 10_101 }, { path: 'b' }])
  const lines = execFileSync('tar', ['--numeric-owner', '-tvf', '-'], { input: archive, encoding: 'utf8' })
  expect(lines).toMatch(/ 10101\/10101 .* a\/\n.* 0\/0 .* b\/\n$/)
})

test.each<[what: string, entry: TarEntry, message: string]>([
  ['name', { path: 'a'.repeat(101), bytes: Buffer.from('') }, 'this path is too long'],
  ['path', { path: 'folder/'.repeat(50), bytes: Buffer.from('') }, 'this path is too long'],
  ['target', { path: 'a', target: 'a'.repeat(101) }, 'the target of this link is too long'],
])('tar refuses a %s that has no room in a header', (_, entry, message) => {
  expect(() => tar([entry])).toThrow(message)
})

test('an image has a manifest, a configuration and layers that name each other by digest, and is the same each time', () => {
  const input = {
    reference: 'example.test/a:1',
    layers: [{ name: 'one', entries: [{ path: 'greeting', bytes: Buffer.from('hello') }] }],
    config: { User: '10101:10101', Entrypoint: ['/a'] },
  }
  const { archive, digest } = ociArchive(input)
  expect(ociArchive(input).digest).toBe(digest)
  const folder = unpack(archive)
  const read = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'))
  const blob = (name: string) => `blobs/sha256/${name.replace('sha256:', '')}`
  expect(read('oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' })
  const [described] = read('index.json').manifests
  expect(described).toMatchObject({ digest, annotations: { 'org.opencontainers.image.ref.name': 'example.test/a:1' } })
  const manifest = read(blob(digest))
  expect(read(blob(manifest.config.digest))).toMatchObject({
    os: 'linux',
    config: { User: '10101:10101', Entrypoint: ['/a'] },
    history: [{ created_by: 'one' }],
  })
  const layer = readFileSync(join(folder, blob(manifest.layers[0].digest)))
  expect(layer).toHaveLength(manifest.layers[0].size)
  expect(readFileSync(join(unpack(gunzipSync(layer)), 'greeting'), 'utf8')).toBe('hello')
})

test('the image has the files of the package, and what the bundle imports late', async () => {
  const files = [...packages(), ...program(), COMMAND]
  const paths = new Set(files.map(({ path }) => path))
  for (const path of [
    'app/dist/main.js',
    'app/dist/proxy-worker.js',
    'app/dist/third-party-notices.txt',
    'app/dist/sbom.cdx.json',
    'app/package.json',
    'app/src/cli/init/http.yaml',
    'app/src/policies/traffic/cors/example.yaml',
    'app/src/protocols/llm/policy-example.yaml',
    'app/examples/guards/policy.yaml',
  ]) {
    expect(paths).toContain(path)
  }
  const folder = temporaryFolder()
  for (const { path, bytes } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes!)
  }
  const clouds = ['./dist/cloud-one.js', './dist/cloud-two.js', './dist/cloud-three.js']
  const imports = [...clouds, 'gpt-tokenizer/encoding/o200k_base', 'gpt-tokenizer/encoding/cl100k_base']
  writeFileSync(join(folder, 'app', 'imports.mjs'), imports.map((name) => `await import('${name}')`).join('\n'))
  // The first line names the runtime of the image, and the second line the program by its absolute path.
  expect(paths).toContain('usr/local/bin/gatewright')
  expect(`${COMMAND.bytes}`).toBe("#!/usr/local/bin/node\nimport('/app/dist/main.js')\n")
  // Not in this thread: the vocabularies take 75 MB each.
  execFileSync(process.execPath, ['imports.mjs'], { cwd: join(folder, 'app'), stdio: 'pipe' })
})

test('the root file system has each file of the layers once, and the folder of the state belongs to the user', () => {
  const { layers } = gatewrightImage('example.test/a:1', { version: '1' })
  const entries = rootFileSystem(layers)
  const paths = entries.map(({ path }) => path)
  expect(new Set(paths).size).toBe(paths.length)
  expect(new Set(paths)).toEqual(new Set(layers.flatMap((layer) => layer.entries.map(({ path }) => path))))
  expect(entries.find(({ path }) => path === 'var/lib/gatewright')).toMatchObject({ owner: 10_101, mode: 0o700 })
})

test('the Dockerfile starts containers as the image does', () => {
  const lines = readFileSync('install/image/Dockerfile', 'utf8').split('\n')
  const instruction = (name: string) => lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1)
  expect({
    User: instruction('USER'),
    Env: instruction('ENV')?.split(' '),
    WorkingDir: instruction('WORKDIR'),
    Entrypoint: JSON.parse(instruction('ENTRYPOINT') ?? ''),
    Cmd: JSON.parse(instruction('CMD') ?? ''),
  }).toEqual(CONFIG)
  expect(CONFIG.Cmd).toContain(instruction('VOLUME'))
})
