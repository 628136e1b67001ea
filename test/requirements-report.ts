import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { REQUIREMENTS } from '#api/requirements/requirements.ts'
import { scanCitations } from './requirements/citations.ts'
import { provedIds } from './requirements/coverage.ts'
import { markProved } from './requirements/mark-proved.ts'
import { formatEntries, formatTable } from './requirements/report.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MANIFEST_FILES = ['document-1.ts', 'document-2.ts'].map((name) =>
  fileURLToPath(new URL(`../src/api/requirements/${name}`, import.meta.url)),
)

const USAGE = `npm run requirements [-- OPTION]: how many requirements of the specification are proved by tests, by section

  --gaps       lists those that are marked as gaps, and not proved
  --unproved   lists those that are neither marked nor proved
  --update     writes into the manifest what is proved
  --help       shows this text`

const options = readOptions()

const proved = provedIds(REQUIREMENTS, scanCitations(ROOT).citations)
if (options.update) updateManifest()
else if (options.gaps) console.log(formatEntries(REQUIREMENTS, (id, entry) => entry.gap && !proved.has(id)))
else if (options.unproved) console.log(formatEntries(REQUIREMENTS, (id, entry) => !entry.gap && !proved.has(id)))
else console.log(formatTable(REQUIREMENTS, proved))

/** The process ends if there is nothing to report. */
function readOptions() {
  const isFalse = { type: 'boolean', default: false } as const
  try {
    const { values } = parseArgs({ options: { gaps: isFalse, unproved: isFalse, update: isFalse, help: isFalse } })
    if (!values.help) return values
    console.log(USAGE)
    return process.exit(0)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`)
    return process.exit(2)
  }
}

/** Marks the entries of the manifest by what is proved, and says which changed. */
function updateManifest(): void {
  const changed = MANIFEST_FILES.filter((file) => {
    const before = readFileSync(file, 'utf8')
    const { source, ...marked } = markProved(before, proved)
    for (const id of marked.proved) console.log(`proved  ${id}`)
    for (const id of marked.gaps) console.log(`gap     ${id}`)
    if (source !== before) writeFileSync(file, source)
    return source !== before
  })
  if (changed.length === 0) {
    console.log('The manifest agrees with the citations.')
    return
  }
  const biome = fileURLToPath(new URL('../node_modules/@biomejs/biome/bin/biome', import.meta.url))
  execFileSync(process.execPath, [biome, 'format', '--write', ...changed], { cwd: ROOT, stdio: 'ignore' })
}
