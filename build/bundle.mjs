import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
/** Vocabularies of 30 MB, which only counts of tokens need: installed beside the bundle, and imported with the first count. */
const NOT_BUNDLED = /^gpt-tokenizer(?:\/|$)/
const IN_PACKAGE = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/

/** A module that the bundle replaces by its value: computing it takes a hundred times the memory. */
const EVALUATED = { path: '/src/models/packaged-prices.ts', name: 'PACKAGED_PRICES' }

/**
 * Writes one module for each entry, with what it imports, and modules for what entries share. A worker thread starts from the module of its
 * entry beside the one that starts it (`src/workers/worker-pool.ts`), so `entries` names it, too.
 * Names are readable and do not change between builds, so a running gateway still finds its modules.
 * Source maps lead to our own files, without their text: that of packages would double the size.
 *
 * @param {Record<string, string>} entries paths from the root of the project, by the names of the modules
 * @param {string} folder from the root of the project
 * @returns {Promise<string[]>} folders of the packages that the modules contain
 */
export async function bundle(entries, folder) {
  const { rolldown } = await import('rolldown')
  /** @type {string[]} */
  const evaluatedFrom = []
  const evaluated = {
    name: 'evaluated-values',
    load: async (/** @type {string} */ id) => {
      if (!id.endsWith(EVALUATED.path)) return null
      const { code, moduleIds } = await evaluate(rolldown, id)
      evaluatedFrom.push(...moduleIds)
      return code
    },
  }
  const unmapped = {
    name: 'packages-without-source-maps',
    transform: {
      filter: { id: /\/node_modules\// },
      handler: (/** @type {string} */ code) => ({ code, map: { mappings: '' } }),
    },
  }
  const absolute = Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)])
  await using built = await rolldown({
    input: Object.fromEntries(absolute),
    platform: 'node',
    cwd: ROOT,
    external: NOT_BUNDLED,
    plugins: [evaluated, unmapped],
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' }
  const maps = { sourcemap: true, sourcemapExcludeSources: true }
  const { output } = await built.generate({ format: 'esm', comments: false, ...names, ...maps })
  const files = new Map(
    output.map((one) => [one.fileName, one.type === 'chunk' ? escapeBeyondAscii(one.code) : one.source]),
  )
  const dir = join(ROOT, folder)
  mkdirSync(dir, { recursive: true })
  for (const [file, text] of files) writeFileSync(join(dir, file), text)
  for (const file of readdirSync(dir)) if (!files.has(file)) rmSync(join(dir, file))
  const moduleIds = output.flatMap((one) => (one.type === 'chunk' ? one.moduleIds : []))
  return [...new Set([...moduleIds, ...evaluatedFrom].flatMap((id) => IN_PACKAGE.exec(id)?.[0] ?? []))].sort()
}

/**
 * @param {typeof import('rolldown').rolldown} rolldown
 * @param {string} path of a module that depends on nothing but other modules
 * @returns {Promise<{ code: string, moduleIds: string[] }>} a module with its value, and what the value was made from
 */
async function evaluate(rolldown, path) {
  await using built = await rolldown({ input: path, platform: 'node', cwd: ROOT })
  const { output } = await built.generate({ format: 'esm' })
  const [{ code, moduleIds }] = output
  const values = await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
  return { code: `export const ${EVALUATED.name} = ${JSON.stringify(values[EVALUATED.name])}`, moduleIds }
}

/**
 * One character beyond ASCII makes Node keep the text of its module with two bytes for each character, in every thread. Source maps do not
 * know: columns after such a character, in the same line, are a few too low.
 *
 * @param {string} code without comments, so such characters are in literals
 */
export function escapeBeyondAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
