import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
/** Large packages that only some configurations need; they are imported from `node_modules` then. */
export const LOADED_LATE = [
  '@aws-sdk/credential-provider-node',
  'google-auth-library',
  'libphonenumber-js',
  'gpt-tokenizer',
]

/** A module that the bundle replaces by its value: computing it takes a hundred times the memory. */
const EVALUATED = { path: '/src/models/packaged-prices.ts', name: 'PACKAGED_PRICES' }

/**
 * Writes one module for each entry, with what it imports, and modules for what entries share. A worker thread starts from the module of its
 * entry beside the one that starts it (`src/workers/worker-pool.ts`), so `entries` names it, too.
 * Names are readable and do not change between builds, so a running gateway still finds its modules.
 *
 * @param {Record<string, string>} entries paths from the root of the project, by the names of the modules
 * @param {string} folder from the root of the project
 */
export async function bundle(entries, folder) {
  const { rolldown } = await import('rolldown')
  const evaluated = {
    name: 'evaluated-values',
    load: async (/** @type {string} */ id) => (id.endsWith(EVALUATED.path) ? evaluate(rolldown, id) : null),
  }
  const absolute = Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)])
  await using built = await rolldown({
    input: Object.fromEntries(absolute),
    platform: 'node',
    cwd: ROOT,
    external: LOADED_LATE.map((name) => new RegExp(`^${name}(?:/|$)`)),
    plugins: [evaluated],
  })
  const names = { entryFileNames: '[name].js', chunkFileNames: '[name].js' }
  const { output } = await built.generate({ format: 'esm', comments: false, ...names })
  const modules = new Map(output.flatMap((one) => (one.type === 'chunk' ? [[one.fileName, one.code]] : [])))
  const dir = join(ROOT, folder)
  mkdirSync(dir, { recursive: true })
  for (const [file, code] of modules) writeFileSync(join(dir, file), escapeBeyondAscii(code))
  for (const file of readdirSync(dir)) if (!modules.has(file)) rmSync(join(dir, file))
}

/**
 * @param {typeof import('rolldown').rolldown} rolldown
 * @param {string} path of a module that depends on nothing but other modules
 * @returns {Promise<string>} a module with its value
 */
async function evaluate(rolldown, path) {
  await using built = await rolldown({ input: path, platform: 'node', cwd: ROOT })
  const { output } = await built.generate({ format: 'esm' })
  const values = await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`)
  return `export const ${EVALUATED.name} = ${JSON.stringify(values[EVALUATED.name])}`
}

/**
 * One character beyond ASCII makes Node keep the text of its module with two bytes for each character, in every thread.
 *
 * @param {string} code without comments, so such characters are in literals
 */
export function escapeBeyondAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
