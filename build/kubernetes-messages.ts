import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * Writes the table of protobuf messages that Kubernetes clients send: field numbers, names and types, as the published Go types of the
 * platform (modules k8s.io/api and k8s.io/apimachinery) declare them in their tags.
 *
 *   node build/kubernetes-messages.ts <folder of k8s.io/api> <folder of k8s.io/apimachinery>
 */

const ROOTS = [
  'core/v1.Namespace',
  'core/v1.Service',
  'core/v1.Secret',
  'core/v1.ConfigMap',
  'core/v1.Pod',
  'core/v1.Event',
  'core/v1.ServiceAccount',
  'events/v1.Event',
  'coordination/v1.Lease',
  'discovery/v1.EndpointSlice',
  'authorization/v1.SelfSubjectAccessReview',
  'authorization/v1.SelfSubjectRulesReview',
  'authentication/v1.SelfSubjectReview',
  'meta/v1.DeleteOptions',
]

/** Types with a form of their own in JSON. */
const SPECIAL: Readonly<Record<string, string>> = {
  'meta/v1.Time': 'time',
  'meta/v1.MicroTime': 'microTime',
  'meta/v1.FieldsV1': 'fields',
  'resource.Quantity': 'quantity',
  'intstr.IntOrString': 'intOrString',
  'runtime.RawExtension': 'raw',
}
const SCALARS: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'bool',
  int32: 'int',
  int64: 'int',
  int: 'int',
  '[]byte': 'bytes',
  'types.UID': 'string',
}

const [api, machinery] = process.argv.slice(2)
if (api === undefined || machinery === undefined)
  throw new Error('usage: node build/kubernetes-messages.ts API MACHINERY')

interface GoPackage {
  /** Lines of each struct. */
  readonly structs: ReadonlyMap<string, readonly string[]>
  /** Other named types, with what they stand for. */
  readonly names: ReadonlyMap<string, string>
}

const packages = new Map<string, GoPackage>()

function packageOf(name: string): GoPackage {
  const known = packages.get(name)
  if (known !== undefined) return known
  const folder = name === 'meta/v1' ? join(machinery!, 'pkg/apis/meta/v1') : join(api!, name)
  const text = readFileSync(join(folder, 'types.go'), 'utf8')
  const structs = new Map<string, readonly string[]>()
  for (const [, type, body] of text.matchAll(/^type (\w+) struct \{\n(.*?)^\}/gms))
    structs.set(type!, body!.split('\n'))
  const names = new Map<string, string>()
  for (const [, type, target] of text.matchAll(/^type (\w+) ((?:\[\]|map\[\w+\])?[\w.]+)$/gm)) names.set(type!, target!)
  const read = { structs, names }
  packages.set(name, read)
  return read
}

const FIELD =
  /^\s+(?:\w+\s+)?(?<type>[*[\]\w.]+)\s+`.*?json:"(?<json>[^"]*)".*?protobuf:"\w+,(?<number>\d+),(?<label>\w+)/

const messages: Record<string, [number, string, string][]> = {}

function addMessage(name: string): void {
  if (messages[name] !== undefined) return
  const fields: [number, string, string][] = []
  messages[name] = fields
  const [packageName, type] = name.split('.') as [string, string]
  const lines = packageOf(packageName).structs.get(type)
  if (lines === undefined) throw new Error(`no struct ${name}`)
  for (const line of lines) {
    const read = FIELD.exec(line)?.groups
    if (read === undefined) continue
    const [jsonName = '', ...options] = read.json!.split(',')
    const isInline = jsonName === '' || options.includes('inline')
    const inner = describe(packageName, read.type!)
    fields.push([Number(read.number), isInline ? '' : jsonName, inner])
  }
}

/** `string`, `*bool` (set also if it is false), `[]core/v1.Container`, `{}bytes` (a map). */
function describe(packageName: string, type: string): string {
  if (SCALARS[type] !== undefined) return SCALARS[type]
  if (type.startsWith('*')) {
    const inner = describe(packageName, type.slice(1))
    return ['string', 'bool', 'int'].includes(inner) ? `*${inner}` : inner
  }
  if (type.startsWith('[]')) return `[]${describe(packageName, type.slice(2))}`
  const map = /^map\[\w+\](.*)$/.exec(type)
  if (map !== null) return `{}${describe(packageName, map[1]!)}`
  const [imported, local = imported!] = type.includes('.') ? type.split('.') : [undefined, type]
  const home = imported === undefined ? packageName : homeOf(imported)
  const special = SPECIAL[`${home}.${local}`]
  if (special !== undefined) return special
  const { structs, names } = packageOf(home)
  if (structs.has(local)) {
    addMessage(`${home}.${local}`)
    return `${home}.${local}`
  }
  const target = names.get(local)
  if (target === undefined) throw new Error(`unknown type ${home}.${local}`)
  if (!target.startsWith('[]') || target === '[]byte') return describe(home, target)
  // A named list is a message with one field.
  messages[`${home}.${local}`] = [[1, 'items', describe(home, target)]]
  return `list:${home}.${local}`
}

function homeOf(imported: string): string {
  const homes: Readonly<Record<string, string>> = { metav1: 'meta/v1', v1: 'core/v1', corev1: 'core/v1' }
  return homes[imported] ?? imported
}

for (const root of ROOTS) addMessage(root)
const lines = Object.entries(messages).map(([name, fields]) => `  ${JSON.stringify(name)}: ${JSON.stringify(fields)}`)
writeFileSync(new URL('../src/apiserver/protobuf/messages.json', import.meta.url), `{\n${lines.join(',\n')}\n}\n`)
console.log(`${lines.length} messages`)
