import { fieldExample } from '#api/field-examples.ts'
import { childrenOf, type FoundField, objectIn, pathText } from '#api/find-field.ts'
import { apiVersionOf, type KindInfo } from '#api/kinds.ts'
import { isNotImplemented, requirementsOf } from '#api/requirements/requirements-of-field.ts'
import { exampleOf } from '#cli/policy-example.ts'
import { describeRules, describeType, nodeOf, type SchemaNode } from '#schema/index.ts'

/** A page of the reference, in Markdown. */
export interface ReferencePage {
  /** Below `docs/reference/`. */
  readonly file: string
  readonly title: string
  readonly description: string
  readonly text: string
}

/** Parts of a kind that have pages of their own, by path. */
type Separate = ReadonlyMap<string, ReferencePage>

const SECTIONS = ['frontend', 'traffic', 'backend'] as const

/** Pages of the kinds, and one for each policy. */
export function referencePages(kinds: readonly KindInfo[]): readonly ReferencePage[] {
  const policies = new Map(policyPages(kinds).map((page) => [page.title, page]))
  return [...policies.values(), ...kinds.map((info) => kindPage(info, policies))]
}

function policyPages(kinds: readonly KindInfo[]): readonly ReferencePage[] {
  const info = kinds.find(({ kind }) => kind === 'ProxyPolicy')!
  return SECTIONS.flatMap((section) =>
    childrenOf(fieldAt(info, 'spec', section))
      .filter((field) => isObject(field.node))
      .map((field) => policyPage(section, field)),
  )
}

function fieldAt(info: KindInfo, ...names: readonly string[]): FoundField {
  const whole: FoundField = { info, path: [], node: nodeOf(info.schema), isRequired: true }
  return names.reduce((field, name) => childrenOf(field).find(({ path }) => path.at(-1) === name)!, whole)
}

function isObject(node: SchemaNode): boolean {
  return objectIn(node).properties !== undefined
}

function policyPage(section: string, field: FoundField): ReferencePage {
  const title = `${section}.${field.path.at(-1)}`
  const description = field.node.description ?? ''
  const also = section === 'backend' ? ` Also \`policies.${field.path.at(-1)}\` of a ProxyBackend.` : ''
  const text = page(title, [
    description,
    `Field of a [ProxyPolicy](../ProxyPolicy.md): \`${pathText(field)}\`.${also}`,
    ...exampleSection(field),
    ...fieldSections(field, field, new Map(), '..'),
    ...behaviourSection(field),
  ])
  return { file: `policies/${title}.md`, title, description, text }
}

function kindPage(info: KindInfo, policies: Separate): ReferencePage {
  const whole: FoundField = { info, path: [], node: nodeOf(info.schema), isRequired: true }
  const versions = info.versions.map((version) => `\`${apiVersionOf(info, version)}\``).join(', ')
  const names = info.shortNames.map((name) => `\`${name}\``).join(', ')
  const platform = info.own ? '' : ' Other fields are kept, and have no effect here.'
  const text = page(info.kind, [
    info.description,
    `API version: ${versions}.${names === '' ? '' : ` Short name: ${names}.`}${platform}`,
    ...fieldSections(whole, whole, policies, '.'),
    ...behaviourSection(whole),
  ])
  return { file: `${info.kind}.md`, title: info.kind, description: info.description, text }
}

function page(title: string, blocks: readonly string[]): string {
  return `${[`# ${title}`, ...blocks.filter((block) => block !== '')].join('\n\n')}\n`
}

function exampleSection(field: FoundField): readonly string[] {
  const example = exampleOf(field)
  return example === undefined ? [] : ['## Example', `\`\`\`yaml\n${example.text.trimEnd()}\n\`\`\``]
}

function fieldSections(root: FoundField, field: FoundField, separate: Separate, up: string): readonly string[] {
  const rows: string[] = []
  const rules: string[] = []
  collect(root, field, separate, up, rows, rules)
  if (rows.length === 0) return []
  return [
    '## Fields',
    [...TABLE_HEAD, ...rows].join('\n'),
    ...(rules.length === 0 ? [] : ['## Rules', rules.map((rule) => `- ${rule}`).join('\n')]),
  ]
}

const TABLE_HEAD = ['| Field | Type | Default | Meaning | Example |', '| --- | --- | --- | --- | --- |']

/** Fields that are the same in every kind, or that the gateway writes. */
const COMMON = ['apiVersion', 'kind', 'metadata']

function collect(
  root: FoundField,
  field: FoundField,
  separate: Separate,
  up: string,
  rows: string[],
  rules: string[],
): void {
  for (const rule of describeRules(objectIn(field.node))) {
    const at = nameOf(root, field)
    rules.push(at === '' ? rule : `\`${at}\`: ${rule}`)
  }
  for (const child of childrenOf(field)) {
    if (child.path.length === 1 && COMMON.includes(child.path[0]!)) continue
    const other = pageOf(child, separate)
    rows.push(row(root, child, other === undefined ? undefined : `${up}/${other.file}`))
    if (other === undefined && !isNested(root, child)) collect(root, child, separate, up, rows, rules)
  }
}

/** The page of a policy: in a ProxyPolicy, and among the policies of a ProxyBackend. */
function pageOf({ info, path }: FoundField, separate: Separate): ReferencePage | undefined {
  const [, section, name] = path
  if (path.length !== 3) return undefined
  const isOfBackend = info.kind === 'ProxyBackend' && section === 'policies'
  if (info.kind !== 'ProxyPolicy' && !isOfBackend) return undefined
  return separate.get(`${isOfBackend ? 'backend' : section}.${name}`)
}

/** Backend policies within another field: they have pages of their own. */
function isNested(root: FoundField, { path, info }: FoundField): boolean {
  return path.at(-1) === 'policies' && !(info.kind === 'ProxyBackend' && path.length === 2 && root.path.length === 0)
}

function row(root: FoundField, child: FoundField, link: string | undefined): string {
  const { node, isRequired } = child
  const name = `\`${nameOf(root, child)}\``
  const nested = isNested(root, child) ? ` Fields: ${listPolicies(child)}.` : ''
  const notes = [
    node.description ?? '',
    ...(node.replacedBy === undefined ? [] : [`Deprecated: use \`${node.replacedBy}\`.`]),
    ...(node.secret === undefined ? [] : ['Secret: no output contains it.']),
    ...(isNotImplemented(child) ? ['**Not implemented yet.**'] : []),
  ].filter((note) => note !== '')
  const cells = [
    link === undefined ? name : `[${name}](${link})`,
    `${describeType(node)}${isRequired ? '; required' : ''}`,
    node.default === undefined ? '' : `\`${JSON.stringify(node.default)}\``,
    notes.join(' ') + nested,
    exampleText(child),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

function exampleText(field: FoundField): string {
  const example = fieldExample(field)
  return example === undefined ? '' : `\`${typeof example === 'string' ? example || '""' : JSON.stringify(example)}\``
}

function listPolicies(field: FoundField): string {
  return childrenOf(field)
    .map(({ path }) => `\`${path.at(-1)}\``)
    .join(', ')
}

/** The path below the subject of the page, with `[]` for the items of lists. */
function nameOf(root: FoundField, field: FoundField): string {
  let node = root.node
  const parts: string[] = []
  for (const name of field.path.slice(root.path.length)) {
    node = objectIn(node).properties![name]!
    parts.push(`${name}${node.items === undefined ? '' : '[]'}`)
  }
  return parts.join('.')
}

/** What the fields do. Which values they take, and their defaults, is in the table and the rules; what all kinds share is in the index. */
function behaviourSection(field: FoundField): readonly string[] {
  const defaults = namesWithDefault(field)
  const lines = requirementsOf(field)
    .filter(({ kind, document, section }) => kind !== 'shape' && !(document === 1 && IN_INDEX.includes(section)))
    .filter(({ text }) => !defaults.has(/^`(?:\w+\.)*(\w+)` defaults to /.exec(text)?.[1] ?? ''))
    .map(({ gap, text }) => `- ${gap ? '**Not yet:** ' : ''}${text}`)
  return lines.length === 0 ? [] : ['## Behaviour', lines.join('\n')]
}

/** Sections about all kinds. */
const IN_INDEX: readonly string[] = ['2.1', '7', '9']

function namesWithDefault(field: FoundField): ReadonlySet<string> {
  return new Set(
    childrenOf(field).flatMap((child) => [
      ...(child.node.default === undefined ? [] : [child.path.at(-1)!]),
      ...(isNested(field, child) ? [] : namesWithDefault(child)),
    ]),
  )
}
