import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** A copy of `install/` with the files of the image of this checkout. */
export function imageFolder(stops: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-image-'))
  stops.defer(() => rmSync(folder, { recursive: true }))
  for (const part of ['image', 'compose', 'observability']) {
    cpSync(join(ROOT, 'install', part), join(folder, part), { recursive: true })
  }
  const words = [join(ROOT, 'build', 'image.ts'), '--rootfs', join(folder, 'image', 'rootfs.tar')]
  execFileSync(process.execPath, words, { stdio: 'inherit' })
  return folder
}
