// What `bin/gatewright` runs: the bundle, or in a checkout the source when a file of it is newer than the bundle (docs/decisions/0001-pinned-runtime.md).
const { existsSync, readdirSync, statSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

const ROOT = join(__dirname, '..')
const BUNDLE = join(ROOT, 'dist', 'main.js')
const SOURCES = join(ROOT, 'src')
const SOURCE = join(SOURCES, 'main.ts')

if (require.main === module) {
  const runsSource = existsSync(SOURCE) && !isCurrent(BUNDLE, SOURCES)
  import(pathToFileURL(runsSource ? SOURCE : BUNDLE).href)
}

/**
 * @param {string} bundle a file
 * @param {string} sources a folder
 * @returns {boolean} whether the bundle exists, and nothing among its sources was changed, added or removed since it was made
 */
function isCurrent(bundle, sources) {
  const made = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs
  if (made === undefined) return false
  const paths = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  return ['', ...paths].every((path) => statSync(join(sources, path)).mtimeMs < made)
}

module.exports = { isCurrent }
