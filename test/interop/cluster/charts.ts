import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse, parseAllDocuments, stringify } from 'yaml'
import { isUpdate } from '#test/cases/golden-case.ts'
import { runClient } from '../kubernetes/clients/run-client.ts'
import type { Part } from '../run-parts.ts'
import { builtProgram } from './running-cluster.ts'

export const CHARTS = join(import.meta.dirname, '..', '..', '..', 'install', 'charts')
const CASES = join(import.meta.dirname, 'charts')
const DEFAULTS = 'defaults.yaml'

/** Values, and what the chart makes of them. */
interface ChartCase {
  readonly values: object
  /** What a refusal says. */
  readonly refusal?: string
  /** Objects, of other cases than the defaults only those that differ; null: the object of the defaults is missing. */
  readonly objects?: Objects
}

type Objects = Readonly<Record<string, unknown>>

/**
 * What `helm lint` and `helm template` say. With `UPDATE=1` in the environment, the files in `charts/` get what Helm prints.
 */
export const checkCharts: Part = async (transcript) => {
  const helm = builtProgram('helm')
  for (const chart of ['gatewright', 'gatewright-crds']) {
    const { code, output } = await runClient(helm, ['lint', '--strict', join(CHARTS, chart)])
    transcript.check(`helm lint ${chart}`, code === 0 ? '' : output, '')
  }
  const definitions = await render(helm, {}, 'gatewright-crds')
  transcript.check('definitions', definitions, expectedDefinitions())
  const defaults = await render(helm, {})
  for (const file of readdirSync(CASES)) {
    const { values, refusal, objects }: ChartCase = parse(readFileSync(join(CASES, file), 'utf8'))
    const seen = await render(helm, values)
    if (refusal !== undefined) {
      transcript.check(file, typeof seen === 'string' && seen.includes(refusal) ? refusal : seen, refusal)
      continue
    }
    if (typeof seen === 'string' || typeof defaults === 'string') throw new Error(`${file}: ${seen}`)
    const shown = file === DEFAULTS ? seen : differences(defaults, seen)
    if (isUpdate) {
      writeFileSync(
        join(CASES, file),
        stringify({ values, objects: shown }, { lineWidth: 0, aliasDuplicateObjects: false }),
      )
    } else {
      transcript.check(basename(file, '.yaml'), shown, objects)
    }
  }
}

/** @returns the objects, or what a refusal says */
async function render(helm: string, values: object, chart = 'gatewright'): Promise<Objects | string> {
  const words = ['template', 'gatewright', join(CHARTS, chart), '-n', 'gatewright-system', '-f', '-']
  const { code, output } = await runClient(helm, words, { input: stringify(values) })
  if (code !== 0) return output
  // Helm says that the chart has links.
  const documents = parseAllDocuments(output.replace(/^level=.*$/gm, '')).map((document) => document.toJS())
  return Object.fromEntries(
    documents
      .filter((object) => object !== null)
      .map((object) => [
        [object.kind, object.metadata.namespace, object.metadata.name].filter(Boolean).join('/'),
        object,
      ])
      .toSorted(([a], [b]) => (a! < b! ? -1 : 1)),
  )
}

/** The definitions of the project, which stay when the chart is removed. */
function expectedDefinitions(): Objects {
  const files = globSync('*.yaml', { cwd: join(CHARTS, '..', 'crds') }).toSorted()
  return Object.fromEntries(
    files.map((file) => {
      const { metadata, ...others } = parse(readFileSync(join(CHARTS, '..', 'crds', file), 'utf8'))
      const annotations = { 'helm.sh/resource-policy': 'keep' }
      return [`CustomResourceDefinition/${metadata.name}`, { ...others, metadata: { ...metadata, annotations } }]
    }),
  )
}

function differences(defaults: Objects, seen: Objects): Objects {
  const names = [...new Set([...Object.keys(defaults), ...Object.keys(seen)])].toSorted()
  const differing = names.filter((name) => !isDeepStrictEqual(defaults[name], seen[name]))
  return Object.fromEntries(differing.map((name) => [name, seen[name] ?? null]))
}
