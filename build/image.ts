import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { tar } from '#cli/tar.ts'
import { gatewrightImage, rootFileSystem } from './image/gatewright-image.ts'
import { ociArchive } from './image/oci-archive.ts'

/**
 * Bundles the source, and writes the image of the gateway as an OCI archive, without a container engine. It has the platform of this machine.
 * The program says that it has another version with `--version`, for tests of upgrades. With `--rootfs`, writes only the files of the image, for `install/image/Dockerfile`.
 *
 *     node_modules/.bin/node build/image.ts [--name REFERENCE | --rootfs] [--version VERSION] FILE.tar
 */

const MEGABYTE = 1e6
const ROOT = join(import.meta.dirname, '..')

const OPTIONS = { name: { type: 'string' }, version: { type: 'string' }, rootfs: { type: 'boolean' } } as const
const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
const [file] = positionals
if (file === undefined || positionals.length > 1 || (values.name !== undefined && values.rootfs)) {
  console.error(
    'usage: node_modules/.bin/node build/image.ts [--name REFERENCE | --rootfs] [--version VERSION] FILE.tar',
  )
  process.exit(2)
}
await import('./run.mjs')
const { version: own } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const { version = own } = values
const reference = values.name ?? `ghcr.io/gatewright/gatewright:${version}`
const input = gatewrightImage(reference, { version, revision: revisionOf(ROOT) })
if (values.rootfs) writeRootFileSystem(file)
else writeArchive(file)

function writeRootFileSystem(to: string): void {
  const bytes = tar(rootFileSystem(input.layers))
  writeFileSync(to, bytes)
  console.log(`${inMegabytes(bytes.length).trim()} MB in ${to}`)
}

function writeArchive(to: string): void {
  const { archive, digest, layers } = ociArchive(input)
  writeFileSync(to, archive)
  for (const { name, unpacked, compressed } of layers) {
    console.log(`${name.padEnd(11)}${inMegabytes(compressed)} MB, unpacked ${inMegabytes(unpacked)} MB`)
  }
  console.log(`${reference}@${digest}, ${inMegabytes(archive.length).trim()} MB in ${to}`)
}

function inMegabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(1).padStart(6)
}

/** Undefined outside of a clone. */
function revisionOf(folder: string): string | undefined {
  try {
    const found = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' })
    return found.trim()
  } catch {
    return undefined
  }
}
