import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i
/** Of packages that have their license in their description only. */
const LICENSE_SECTION = /^(?:#+ *)?licen[cs]e\n.*/ims
const RULE = '-'.repeat(80)

/**
 * @typedef {{ name: string, version: string, license: string, folder: string }} Package
 * @typedef {{ name: string, version: string, license: string, dependencies: Record<string, string>, optionalDependencies: Record<string, string> }} Project
 */

/**
 * The licenses of packages that the bundle contains. Packages with the same text share it.
 *
 * @param {readonly string[]} folders of the packages
 * @throws Error for a package without a license
 */
export function thirdPartyNotices(folders) {
  /** @type {Map<string, string[]>} */
  const texts = new Map()
  for (const one of folders.map(readPackage)) {
    const text = licenseOf(one)
    texts.set(text, [...(texts.get(text) ?? []), `${one.name} ${one.version} (${one.license})`])
  }
  const parts = [...texts].map(([text, names]) => `${RULE}\n${names.join('\n')}\n\n${text}\n`)
  return `The modules of Gatewright contain code and data of these packages.\n\n${parts.join('\n')}`
}

/**
 * What an installation consists of, as CycloneDX 1.6: the packages in the bundle, and those installed beside it. The same content gives the same text.
 *
 * @param {readonly string[]} folders of the packages in the bundle
 */
export function billOfMaterials(folders) {
  const { name, version, license, dependencies, optionalDependencies } = /** @type {Project} */ (
    readJson(join(ROOT, 'package.json'))
  )
  const { packages } = /** @type {{ packages: Record<string, { integrity?: string, license?: string }> }} */ (
    readJson(join(ROOT, 'package-lock.json'))
  )
  const component = (/** @type {Package} */ one, /** @type {'required' | 'optional'} */ scope) => ({
    type: 'library',
    'bom-ref': purl(one),
    name: one.name,
    version: one.version,
    scope,
    licenses: [{ expression: one.license }],
    purl: purl(one),
    ...hashes(packages[one.folder]?.integrity),
  })
  const installed = (/** @type {Record<string, string>} */ pins) =>
    Object.entries(pins).map(([name, version]) => {
      const folder = `node_modules/${name}`
      return { name, version, folder, license: packages[folder]?.license ?? 'MIT' }
    })
  const itself = { name, version, license, folder: '' }
  const components = [
    ...[...folders.map(readPackage), ...installed(dependencies)].map((one) => component(one, 'required')),
    ...installed(optionalDependencies).map((one) => component(one, 'optional')),
  ]
  return `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: { ...component(itself, 'required'), type: 'application' } },
      components,
      dependencies: [{ ref: purl(itself), dependsOn: components.map((one) => one.purl) }],
    },
    null,
    1,
  )}\n`
}

/** @param {string} folder @returns {Package} */
function readPackage(folder) {
  const { name, version, license } = /** @type {Package} */ (readJson(join(folder, 'package.json')))
  return { name, version, license, folder: relative(ROOT, folder).replaceAll('\\', '/') }
}

/** @param {Package} one */
function licenseOf({ name, license, folder }) {
  const files = readdirSync(join(ROOT, folder))
  const texts = files.filter((file) => LICENSE_FILE.test(file)).map((file) => readText(folder, file))
  if (texts.length > 0) return texts.join('\n\n')
  const description = files.find((file) => /^readme/i.test(file))
  const section = description === undefined ? null : LICENSE_SECTION.exec(readText(folder, description))
  if (section !== null) return section[0]
  // It contains no names: the text of this project is that of every other.
  if (license === 'Apache-2.0') return readText('', 'LICENSE')
  throw new Error(`the package ${name} has no license text`)
}

/** @param {string} folder @param {string} file */
function readText(folder, file) {
  return readFileSync(join(ROOT, folder, file), 'utf8')
    .replaceAll('\r\n', '\n')
    .trim()
}

/** @param {{ name: string, version: string }} one */
function purl({ name, version }) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** @param {string | undefined} integrity as in package-lock.json */
function hashes(integrity) {
  if (integrity === undefined || !integrity.startsWith('sha512-')) return {}
  const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
  return { hashes: [{ alg: 'SHA-512', content }] }
}

/** @param {string} path */
function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
