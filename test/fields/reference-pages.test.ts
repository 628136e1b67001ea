import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXAMPLES, entryNode, fieldExample } from '#api/field-examples.ts'
import { findField } from '#api/find-field.ts'
import { parse } from '#cel/parser.ts'
import { type TSchema, validate } from '#schema/index.ts'
import { allLeaves, MAP_KEY } from './leaves.ts'

const ROOT = join(import.meta.dirname, '../../docs/reference')

/** The cells of a row of a page. */
interface Row {
  readonly page: string
  readonly field: string
  readonly type: string
  readonly meaning: string
  readonly example: string
}

const rows = globSync('**/*.md', { cwd: ROOT }).flatMap(rowsOf)
const byName = new Map(rows.map((row) => [`${row.page} ${row.field}`, row]))

function rowsOf(page: string): readonly Row[] {
  const lines = readFileSync(join(ROOT, page), 'utf8').matchAll(/^\| (?:\[)?`(.*?)`.*$/gm)
  return [...lines].map(([line, field = '']) => {
    const [, , type = '', , meaning = '', example = ''] = line
      .replaceAll('\\|', '&#124;')
      .split('|')
      .map((cell) => cell.trim())
    return { page, field, type, meaning, example }
  })
}

/** Where a field can be: on the page of its kind, or of the policy that contains it. */
function placesOf(title: string): readonly string[] {
  const [kind = '', ...names] = title.replaceAll(`.${MAP_KEY}`, '').split('.')
  const policies = names.lastIndexOf('policies')
  const [, section = '', policy = '', ...rest] = kind === 'ProxyPolicy' ? names : []
  return [
    `${kind}.md ${names.join('.')}`,
    `policies/${section}.${policy}.md ${rest.join('.')}`,
    `policies/backend.${names[policies + 1]}.md ${names.slice(policies + 2).join('.')}`,
  ]
}

test('each field has a row', () => {
  const missing = allLeaves().filter(({ title }) => !placesOf(title).some((place) => byName.has(place)))
  expect(missing.map(({ title }) => title)).toEqual([])
})

test('each row has type and meaning', () => {
  expect(rows.filter((row) => row.type === '' || row.meaning === '')).toEqual([])
})

test('each example is that of a field', () => {
  const examples = allLeaves().flatMap(({ title }) => {
    const field = findField(title.replaceAll(`.${MAP_KEY}`, ''))
    return 'message' in field
      ? []
      : [{ path: [field.info.kind, ...field.path].join('.'), example: fieldExample(field) }]
  })
  const unused = EXAMPLES.filter(
    ([pattern, value]) => !examples.some(({ path, example }) => example === value && pattern.test(path)),
  )
  expect(unused).toEqual([])
})

test('each value has an example that its field accepts', () => {
  const faults = allLeaves().flatMap(({ title }) => {
    const field = findField(title.replaceAll(`.${MAP_KEY}`, ''))
    if ('message' in field) return [`${title}: ${field.message}`]
    const example = fieldExample(field)
    if (example === undefined) return [`${title}: none`]
    const entry = entryNode(field.node)
    const { problems } = validate(entry as TSchema, example, { fromFile: true })
    if (entry.scalar === 'CELExpression') {
      const { problems: syntax } = parse(String(example))
      return syntax.map((each) => `${title}: ${JSON.stringify(each)}`)
    }
    const shown = placesOf(title).map((place) => byName.get(place)?.example ?? '')
    if (shown.every((text) => text === '')) return [`${title}: its row has none`]
    return problems.map(({ message }) => `${title}: ${message}`)
  })
  expect(faults).toEqual([])
})
