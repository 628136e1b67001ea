import {
  childrenOf,
  type FoundField,
  type FoundName,
  findField,
  findProducts,
  objectIn,
  pathText,
} from '#api/find-field.ts'
import { apiVersionOf, KINDS } from '#api/kinds.ts'
import { isNotImplemented, requirementsOf } from '#api/requirements/requirements-of-field.ts'
import { nameWithProduct } from '#base/products.ts'
import { describeRules, describeType } from '#schema/index.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { complain, print } from './output.ts'
import { exampleOf } from './policy-example.ts'

/** Prints what a field is, or where a product is in the API; without a path, the kinds. */
export function fields(path: string | undefined): ExitCode {
  if (path === undefined) {
    printTable(KINDS.map(({ kind, description }) => [kind, description]))
    print('')
    print('A path shows more, such as: gatewright fields ProxyPolicy.spec.traffic')
    return EXIT.ok
  }
  const products = findProducts(path)
  if (products.length > 0) {
    for (const line of products.flatMap(describeProduct)) print(line)
    return EXIT.ok
  }
  const found = findField(path)
  if ('message' in found) {
    const hint = found.suggestion === undefined ? '' : `; did you mean ${found.suggestion}?`
    complain(`${found.message}${hint}`)
    return EXIT.usage
  }
  for (const line of describeField(found)) print(line)
  return EXIT.ok
}

/** Everything about a field, as lines. */
export function describeField(field: FoundField): readonly string[] {
  return [...heading(field), ...facts(field), ...children(field), ...specification(field), ...example(field)]
}

/** Where a product is in the API, as lines. */
function describeProduct({ name, fields: named, values }: FoundName): readonly string[] {
  const paths = (found: readonly FoundField[]) => found.map((field) => `  ${pathText(field)}`)
  return [
    ...(named.length === 0 ? [] : [`${nameWithProduct(name)} is a field:`, ...paths(named)]),
    ...(values.length === 0 ? [] : [`${nameWithProduct(name)} is a value of:`, ...paths(values)]),
  ]
}

function heading(field: FoundField): readonly string[] {
  const { info, path, node } = field
  if (path.length === 0)
    return [`${info.kind} (${info.versions.map((each) => apiVersionOf(info, each)).join(', ')})`, '', info.description]
  const name = nameWithProduct(path.at(-1)!)
  const product = name === path.at(-1) ? '' : name.slice(name.indexOf(' '))
  return [`${pathText(field)}${product}`, ...(node.description === undefined ? [] : ['', node.description])]
}

function facts(field: FoundField): readonly string[] {
  const { path, node, isRequired } = field
  if (path.length === 0) return []
  const rows: (readonly [string, string])[] = [
    ['type', describeType(node)],
    ['required', isRequired ? 'yes' : 'no'],
  ]
  if (isNotImplemented(field)) rows.push(['effect', NOT_IMPLEMENTED])
  if (node.default !== undefined) rows.push(['default', JSON.stringify(node.default)])
  if (node.secret !== undefined) rows.push(['secret', 'yes; no output contains it'])
  if (node.replacedBy !== undefined) rows.push(['deprecated', `use ${node.replacedBy}`])
  for (const rule of describeRules(objectIn(node))) rows.push(['rule', rule])
  return ['', ...tableLines(rows)]
}

function children(field: FoundField): readonly string[] {
  const all = childrenOf(field)
  if (all.length === 0) return []
  const rows = all.map((child): readonly [string, string] => {
    const { path, node, isRequired } = child
    const notes = [
      describeType(node),
      ...(isRequired ? ['required'] : []),
      ...(isNotImplemented(child) ? [NOT_IMPLEMENTED] : []),
    ]
    return [path.at(-1)!, `${node.description ?? ''} (${notes.join(', ')})`]
  })
  return ['', 'Fields:', ...tableLines(rows)]
}

const NOT_IMPLEMENTED = 'not implemented yet'

/** What the specification says about the field, and what of it is not so yet. */
function specification(field: FoundField): readonly string[] {
  const statements = requirementsOf(field)
  if (statements.length === 0) return []
  if (statements.every(({ gap }) => !gap)) return ['', 'Specification:', ...statements.map(({ text }) => `  ${text}`)]
  const legend = '("not yet": not implemented, or proved by no test)'
  const rows = statements.map(({ gap, text }): readonly [string, string] => [gap ? 'not yet' : '', text])
  return ['', `Specification ${legend}:`, ...tableLines(rows)]
}

function example(field: FoundField): readonly string[] {
  const found = exampleOf(field)
  if (found === undefined) return []
  if (!found.isWhole) return ['', `Example: ${found.file}`]
  const lines = found.text.trimEnd().split('\n')
  return ['', `Example (${found.file}):`, '', ...lines.map((line) => (line === '' ? '' : `  ${line}`))]
}

function printTable(rows: readonly (readonly [string, string])[]): void {
  for (const line of tableLines(rows)) print(line)
}

/** Two columns, the first padded to its widest entry. */
function tableLines(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
}
