import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { GATEWAY_GROUP } from '#api/groups.ts'
import type { WrittenObject } from '#apiserver/kinds/served-kind.ts'
import { builtInKinds } from '#apiserver/platform-rules/built-in-kinds.ts'
import { allLeaves } from '#test/fields/leaves.ts'
import { type Variant, variantsOf } from '#test/fields/variants.ts'
import { installedProgram } from '../counterparts.ts'
import type { Transcript } from '../transcript.ts'
import { askReferee } from './referee.ts'

/** The newest version that the Go of this project can download. */
const MODULE = 'sigs.k8s.io/gateway-api@v1.6.0'
const PLURALS = [
  'backendtlspolicies',
  'gatewayclasses',
  'gateways',
  'grpcroutes',
  'httproutes',
  'listenersets',
  'referencegrants',
  'tcproutes',
  'tlsroutes',
]

/** What only the gateway refuses, with the reason. */
const STRICTER: readonly (readonly [refusal: RegExp, reason: string])[] = [
  [/matchExpressions\[0\]\.operator/, 'such a selector never matches'],
  [/forwardBody\.maxSize/, 'a size is not negative'],
  [/sessionPersistence\.sessionName/, 'clients could not send such a cookie'],
  [/sessionPersistence\.idleTimeout/, 'the field was removed in 1.6'],
  [/matches\[0\]\.path\.value: must have only characters/, 'the definitions of 1.7 refuse it'],
]

/** What only the definitions refuse, with the reason. */
const LAXER: readonly (readonly [refusal: RegExp, reason: string])[] = [
  [/^Gateway .*spec\.listeners: Invalid value: 0/, 'a Gateway can have the listeners of its ListenerSets only'],
  [/^(TCPRoute|TLSRoute) .*(backendRefs|hostnames|spec\.rules: Too many)/, 'older versions of these kinds accept it'],
  [
    /^Gateway .*(spec\.addresses|spec\.defaultScope|tls\.frontend\.default|infrastructure\.labels)/,
    'the status reports it',
  ],
  [/retry\.attempts/, 'the status reports it'],
  [/caCertificateRefs: Too many/, 'the definitions of 1.7 accept it'],
]

interface Verdict {
  readonly accepted: boolean
  readonly errors: readonly string[]
}

/** Compares writes of Gateway API kinds with its own CustomResourceDefinitions (experimental channel). */
export async function checkGatewayApi(transcript: Transcript): Promise<void> {
  const variants = variantsOfGatewayApi()
  const folder = join(moduleFolder(), 'config/crd/experimental')
  const files = PLURALS.map((plural) => join(folder, `${GATEWAY_GROUP}_${plural}.yaml`))
  const lines = await askReferee(
    'judge-objects',
    files,
    variants.map(({ object }) => object),
  )
  const served = builtInKinds()
  const stricter: string[] = []
  const laxer: string[] = []
  variants.forEach(({ title, object }, index) => {
    const { accepted, errors } = JSON.parse(lines[index]!) as Verdict
    const kind = served.find((each) => each.kind === object.kind)!
    const { causes } = kind.admit(object as unknown as WrittenObject, { unknownFields: 'ignore' })
    const refusal = causes.map(({ field, message }) => `${object.kind} ${field}: ${message}`)
    if (accepted && causes.length > 0) stricter.push(`${refusal[0]} (${title})`)
    if (!accepted && causes.length === 0) laxer.push(`${object.kind} ${errors.join(' | ')}`)
  })
  transcript.check('objects judged', variants.length > 5000, true)
  transcript.check('what Kubernetes accepts is accepted, but for the table', exceptIn(STRICTER, stricter), [])
  transcript.check('what Kubernetes refuses is refused, but for the table', exceptIn(LAXER, laxer), [])
}

function exceptIn(table: typeof LAXER, found: readonly string[]): readonly string[] {
  return found.filter((text) => !table.some(([known]) => known.test(text))).slice(0, 20)
}

function variantsOfGatewayApi(): readonly Variant[] {
  const all = allLeaves()
    .filter(({ kind }) => kind.group === GATEWAY_GROUP)
    .flatMap((leaf) => [...variantsOf(leaf)])
  return [...new Map(all.map((variant) => [JSON.stringify(variant.object), variant])).values()]
}

function moduleFolder(): string {
  const go = installedProgram('go', 'golang-go')
  return (JSON.parse(execFileSync(go, ['mod', 'download', '-json', MODULE], { encoding: 'utf8' })) as { Dir: string })
    .Dir
}
