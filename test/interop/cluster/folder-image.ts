import { globSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ociArchive } from '../../../build/image/oci-archive.ts'

/**
 * Writes an image of the files in a folder.
 *
 *     node folder-image.ts FOLDER OUT.tar REFERENCE '{"Entrypoint":["/program"],"User":"65535:65535"}'
 */

const [folder, out, reference, config = '{}'] = process.argv.slice(2)
const entries = globSync('**', { cwd: folder! })
  .filter((path) => path !== '.')
  .map((path) => {
    const stats = lstatSync(join(folder!, path))
    return stats.isFile()
      ? { path, mode: stats.mode & 0o777, bytes: readFileSync(join(folder!, path)) }
      : { path, mode: stats.mode & 0o777 }
  })
const layers = [{ name: 'files', entries }]
const { archive, digest } = ociArchive({ reference: reference!, layers, config: JSON.parse(config), compression: 1 })
writeFileSync(out!, archive)
console.log(`${reference}@${digest}`)
